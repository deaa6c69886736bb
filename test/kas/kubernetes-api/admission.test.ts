import { equal, is } from 'uvu/assert'
import { type ClusterAdmission, createAdmissions } from '../../../src/kas/kubernetes-api/admission.ts'
import type { AccessSources } from '../../../src/kas/kubernetes-api/judge.ts'
import type { Looks } from '../../../src/kas/kubernetes-api/looks.ts'
import { Failure, isFailure, minutes, pause, Secret, seconds } from '../../../src/std/index.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

/** Visitors of an agent whose configuration lets `developers` in. What that depends on changes when `change` says so. */
function given(clock: SteppedClock, looks: Looks = (_, look) => look()) {
  const changes = new Set<() => void>()
  const agent = { metadata: { name: 'dev', namespace: 'evil', uid: 'a' }, spec: {} }
  let as: 'agent' | 'user' = 'agent'
  let groups = ['developers']
  let judged = 0
  let isAway = false
  const person = () => ({ name: 'mallory', uid: '', groups, extra: {}, account: undefined })
  const deaf = { onChange: () => () => undefined }
  const sources = {
    agents: {
      get: () => agent,
      onChangeOf(_: unknown, notify: () => void) {
        changes.add(notify)
        return () => changes.delete(notify)
      },
    },
    ...{ projects: { ...deaf, onMeaningChange: () => () => undefined, named: () => [] }, permissions: deaf, looks, clock },
    configurations: {
      ...deaf,
      async of() {
        judged++
        await pause(clock, 10)
        return { userAccess: { accessAs: { as: { case: as } }, projects: [], groups: [{ id: 'developers' }] } }
      },
    },
    developsAtPace: () => async () => false,
    identify: async () => {
      if (isAway) throw new Failure('unavailable', 'the API server is away')
      return person()
    },
    spaces: { requests: deaf, operator: { namespace: 'berth-system', name: 'operator' } },
  }
  const { admit, close } = createAdmissions(sources as unknown as AccessSources)
  return {
    /** Comes in, or fails, within the time that it takes to look. */
    async visit(token = 'x'): Promise<ClusterAdmission> {
      const ask = { agent: { namespace: 'evil', name: 'dev' }, token: new Secret(token), as: 'either' as const }
      const coming = admit({ ...ask, path: '/', prefix: '', query: new URLSearchParams() }, person())
      coming.catch(() => undefined)
      await clock.step(50)
      return coming
    },
    close,
    /** What the right depends on. With groups alone nothing is heard of it. */
    change(to: { as?: 'agent' | 'user'; groups?: string[]; isAway?: boolean } = {}) {
      as = to.as ?? as
      groups = to.groups ?? groups
      isAway = to.isAway ?? isAway
      for (const each of [...changes]) each()
    },
    judged: () => judged,
    watching: () => changes.size,
  }
}

describe('kas: the right to a cluster', (it) => {
  it('is found once for all visits with one token, and kept ten seconds for the next', async () => {
    const clock = steppedClock()
    const { visit, judged, watching } = given(clock)
    const first = await visit()
    const second = await visit()
    first.close()
    second.close()
    second.close()
    await clock.step(seconds(9))
    const third = await visit()
    equal([judged(), watching()], [1, 1])
    await visit('y')
    is(judged(), 2)
    await clock.step(seconds(15))
    is(third.ended.aborted, false)
    third.close()
    await clock.step(seconds(10))
    is(watching(), 1)
    await visit()
    is(judged(), 3)
  })

  it('that has become another ends all visits, and counts for the next as it is then', async () => {
    const clock = steppedClock()
    const { visit, change } = given(clock)
    const [first, second] = [await visit(), await visit()]
    first.close()
    change({ as: 'user' })
    const third = await visit()
    equal([first.ended.aborted, second.ended.aborted, third.ended.aborted], [false, true, false])
    is(second.ended.reason.reason, 'AccessRevoked')
    equal([second.right.impersonation, third.right.impersonation?.user], [undefined, 'gitlab:user:mallory'])
  })

  it('that has gone lets nobody in, and one that comes does, though both were looked for a moment ago', async () => {
    const clock = steppedClock()
    const { visit, change } = given(clock)
    const first = await visit()
    change({ groups: [] })
    is((await failureOf(() => visit())).reason, 'AgentNotAccessible')
    is(first.ended.aborted, true)
    is((await failureOf(() => visit())).reason, 'AgentNotAccessible')
    change({ groups: ['developers'] })
    is((await visit()).ended.aborted, false)
  })

  it('is found anew by who comes after a change, who waits for nobody’s look', async () => {
    const clock = steppedClock()
    const { visit, change, judged } = given(clock, () => new Promise(() => undefined))
    const first = await visit()
    change()
    is((await visit()).ended.aborted, false)
    equal([judged(), first.ended.aborted], [2, false])
    change()
    change({ as: 'user' })
    is((await visit()).right.impersonation?.user, 'gitlab:user:mallory')
  })

  it('is not had by who comes while the API server is away, and kept by who is in', async () => {
    const clock = steppedClock()
    const { visit, change } = given(clock)
    const first = await visit()
    change({ isAway: true })
    await clock.step(seconds(1))
    await failureOf(() => visit())
    is(first.ended.aborted, false)
    change({ isAway: false })
    is((await visit()).ended.aborted, false)
  })

  it('ends with the server', async () => {
    const clock = steppedClock()
    const { visit, close, watching } = given(clock)
    ;(await visit()).close()
    is(watching(), 1)
    close()
    is(watching(), 0)
  })

  it('is kept for no more than a thousand who are away', async () => {
    const clock = steppedClock()
    const { visit, watching } = given(clock)
    const all = await Promise.all(Array.from({ length: 1100 }, (_, at) => visit(`${at}`)))
    is(watching(), 1100)
    for (const admission of all) admission.close()
    is(watching(), 1000)
  })
})

describe('kas: a right that is to be looked for again', (it) => {
  it('goes on while it is found, and is looked for once where much changes meanwhile', async () => {
    const clock = steppedClock()
    let looked = 0
    const { visit, change } = given(clock, async (_, look) => {
      looked++
      await pause(clock, seconds(1))
      await look()
    })
    const admission = await visit()
    for (let at = 0; at < 50; at++) change()
    await clock.step(seconds(5))
    is(looked, 1)
    is(admission.ended.aborted, false)
    admission.close()
  })

  it('ends where nobody gets to that for a minute after a change', async () => {
    const clock = steppedClock()
    const { visit, change } = given(clock, () => new Promise(() => undefined))
    const admission = await visit()
    await clock.step(seconds(50))
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
