import { equal, is } from 'uvu/assert'
import { admit } from '../../../src/kas/kubernetes-api/admission.ts'
import type { AccessSources } from '../../../src/kas/kubernetes-api/judge.ts'
import { createLooks, type Looks } from '../../../src/kas/kubernetes-api/looks.ts'
import { isFailure, minutes, pause, Secret, seconds } from '../../../src/std/index.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

/** Looks that take so many milliseconds each, and whose they are when they begin. */
function given(takes: number) {
  const clock = steppedClock()
  const looks = createLooks(clock)
  const begun: string[] = []
  const look = (namespace: string) => {
    void looks(namespace, () => {
      begun.push(namespace)
      return pause(clock, takes)
    })
  }
  return { clock, begun, look }
}

describe('kas: how often rights are looked for again', (it) => {
  it('is as often as something changes, while that takes little time', async () => {
    const { clock, begun, look } = given(10)
    for (let at = 0; at < 100; at++) look('evil')
    await clock.step(seconds(1.2))
    is(begun.length, 100)
  })

  it('is a tenth of the time for the agents of one namespace, after five seconds of it, and as before for others', async () => {
    const { clock, begun, look } = given(500)
    for (let at = 0; at < 100; at++) look('evil')
    await clock.step(seconds(10))
    const before = begun.length
    await clock.step(seconds(60))
    is(begun.length - before, 12)
    look('team-a')
    await clock.step(1)
    is(begun.at(-1), 'team-a')
  })
})

/** Of somebody whom an agent's configuration lets in: what that depends on changes when `change` says so. */
async function visit(clock: SteppedClock, looks: Looks) {
  const changes: (() => void)[] = []
  const agent = { metadata: { name: 'dev', namespace: 'evil', uid: 'a' }, spec: {} }
  const userAccess = { accessAs: { as: { case: 'agent' } }, projects: [], groups: [{ id: 'developers' }] }
  const deaf = { onChange: () => () => undefined }
  const sources = {
    agents: {
      get: () => agent,
      onChangeOf(_: unknown, notify: () => void) {
        changes.push(notify)
        return () => undefined
      },
    },
    ...{ projects: deaf, permissions: deaf, looks, clock },
    configurations: { ...deaf, of: async () => ({ userAccess }) },
    identify: async () => ({ name: 'mallory', uid: '', groups: ['developers'], extra: {}, account: undefined }),
    spaces: { requests: deaf, operator: { namespace: 'berth-system', name: 'operator' } },
  }
  const ask = { agent: { namespace: 'evil', name: 'dev' }, token: new Secret('x'), as: 'either' as const }
  const asked = { ...ask, path: '/', prefix: '', query: new URLSearchParams() }
  const admission = await admit(sources as unknown as AccessSources, asked)
  const change = () => {
    for (const each of changes) each()
  }
  return { admission, change }
}

describe('kas: a right that is to be looked for again', (it) => {
  it('goes on while it is found, and is looked for once where much changes meanwhile', async () => {
    const clock = steppedClock()
    let looked = 0
    const { admission, change } = await visit(clock, async (_, look) => {
      looked++
      await pause(clock, seconds(1))
      await look()
    })
    for (let at = 0; at < 50; at++) change()
    await clock.step(seconds(5))
    is(looked, 1)
    is(admission.ended.aborted, false)
    admission.close()
  })

  it('ends where nobody gets to that for a minute after a change', async () => {
    const clock = steppedClock()
    const { admission, change } = await visit(clock, () => new Promise(() => undefined))
    await clock.step(minutes(3))
    is(admission.ended.aborted, false)
    change()
    await clock.step(minutes(1) - 1)
    is(admission.ended.aborted, false)
    await clock.step(1)
    const { reason } = admission.ended
    equal([isFailure(reason, 'unavailable'), reason.reason], [true, 'AccessUnchecked'])
    admission.close()
  })
})
