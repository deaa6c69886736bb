import { equal, is, ok } from 'uvu/assert'
import { createEventRecorder } from '../../../src/adapters/kube/index.ts'
import { CoreEvents } from '../../../src/api/index.ts'
import { minutes, seconds, silentLog } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

describe('Events', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  const reporting = async () => {
    const namespace = await cluster.namespace('events')
    const clock = steppedClock()
    const events = createEventRecorder({ kube, clock, log: silentLog, reporter: 'test' })
    const about = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `about-${uid}`, namespace, uid } })
    const record = async (uid: string, message: string) => {
      events.record(about(uid), { type: 'Normal', reason: 'Tested', message })
      await events.flush()
    }
    const told = async () => (await kube.list(CoreEvents, { namespace })).filter(({ reason }) => reason === 'Tested')
    return { clock, record, told }
  }

  it('count what comes again and again, and say so while it does', async () => {
    const { clock, record, told } = await reporting()
    for (let turn = 0; turn < 5; turn++) {
      await record('a', 'it happened')
      await clock.step(seconds(10))
    }
    const [one, ...others] = await told()
    equal(others, [])
    is(one?.count, 5)
  })

  it('are told of an object that had many, once these are old, whatever goes on elsewhere', async () => {
    const { clock, record, told } = await reporting()
    await record('noisy', 'it fails')
    for (let each = 0; each < 25; each++) await record('busy', `commit ${each}`)
    await record('busy', 'one too many')
    for (let turn = 0; turn < 3; turn++) {
      await clock.step(minutes(5))
      await record('noisy', 'it fails')
    }
    await record('busy', 'much later')
    const said = (await told()).map(({ message }) => message)
    ok(!said.includes('one too many'))
    ok(said.includes('much later'))
  })
})
