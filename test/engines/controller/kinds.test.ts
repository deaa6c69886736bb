import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { OWN_KINDS } from '../../../src/api/index.ts'
import { requireKinds } from '../../../src/engines/controller/index.ts'
import { Failure, seconds, silentLog } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

/** The kinds of this repository are installed there. */
describe('a program that needs kinds', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  const required = (version: string, kube: Pick<Kube, 'get'> = cluster.kube) => {
    const clock = steppedClock()
    const { signal } = new AbortController()
    return { clock, done: requireKinds(OWN_KINDS, { kube, clock, log: silentLog, version, signal }) }
  }

  it('begins where they are of its version, or of the one before or after it', async () => {
    for (const version of ['0.0.4', '0.1.7', '0.2.0']) await required(version).done
  })

  it('names the first that is of another, and what to do', async () => {
    const { message, remedy } = await failureOf(() => required('0.3.0').done)
    assert.match(message, /^\S+\.\S+ is of Berth 0\.1\.0, and this program is 0\.3\.0$/)
    assert.match(remedy ?? '', 'One minor version apart works')
  })

  it('waits for an API server that does not answer', async () => {
    let answers = false
    const away: Pick<Kube, 'get'> = {
      get: (...of) => (answers ? cluster.kube.get(...of) : Promise.reject(new Failure('unavailable', 'nobody is there'))),
    }
    const { clock, done } = required('0.3.0', away)
    await clock.step(seconds(2))
    answers = true
    const failed = failureOf(() => done)
    await clock.step(seconds(2))
    assert.match((await failed).message, 'this program is 0.3.0')
  })

  it('begins where it may not look', async () => {
    const kube: Pick<Kube, 'get'> = { get: () => Promise.reject(new Failure('forbidden', 'not for you')) }
    await required('0.3.0', kube).done
  })
})
