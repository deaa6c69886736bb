import { is, ok } from 'uvu/assert'
import { kubeFromSecret, type Memory } from '../../../../src/adapters/kube/index.ts'
import { createMemory } from '../../../../src/adapters/kube/memory.ts'
import { labels } from '../../../../src/api/index.ts'
import { createSurvey } from '../../../../src/operator/workspace/watch/survey.ts'
import { minutes, Secret, silentLog } from '../../../../src/std/index.ts'
import { tellingServer } from '../../../support/builders/strange-server.ts'
import { steppedClock } from '../../../support/clock.ts'
import { describe } from '../../../support/suite.ts'
import { kubeconfigFor } from '../../../support/targets.ts'
import { countedMemory } from '../fixture.ts'

const EACH = 2 ** 20
const OURS = ['a', 'b']
const tenant = 'team-a'

describe('workspace: many objects in a target', (it) => {
  const ending: (() => Promise<void>)[] = []
  it.afterEach(async () => {
    for (const end of ending.splice(0)) await end()
  })

  /** A survey that was made where each list of the target has one object of this size for each of the workspaces. */
  const surveyed = async (uids: string[], size: number, memory?: Memory) => {
    const items = uids.map((uid) => ({
      metadata: { name: `big-${uid}`, labels: { [labels.workspaceUid]: uid } },
      data: { x: 'x'.repeat(size) },
    }))
    const server = await tellingServer(JSON.stringify({ metadata: {}, items }))
    const { url } = server
    const kube = kubeFromSecret(new Secret(kubeconfigFor(url)), { server: url, reach: undefined, insecureSkipTLSVerify: true })
    const clock = steppedClock()
    const made = Promise.withResolvers<void>()
    const survey = createSurvey({
      kube,
      tenant,
      memory,
      clock,
      log: silentLog,
      namespace: 'a',
      leadsHere: (uid) => OURS.includes(uid),
      count: () => 10,
      done: made.resolve,
    })
    ending.push(async () => {
      survey.close()
      await kube.close()
      await server.close()
    })
    is(survey.isAwaited('a'), true)
    await made.promise
    return { survey, clock }
  }

  it('are asked for one by one where they are too many to be listed, rather than taken for all there are', async () => {
    is((await surveyed(['a'], 100)).survey.take('a')?.objects.size, 7)
    is((await surveyed(['a'], 8_000_000)).survey.take('a'), undefined)
    is((await surveyed(['nobody'], 8_000_000)).survey.take('a'), undefined)
  })

  it('take the memory of the tenant until they are used, or their time is over, or nobody uses the target', async () => {
    const { memory, held } = countedMemory(createMemory({ all: 4 * EACH, each: EACH }))
    const size = 20_000
    const used = await surveyed(OURS, size, memory)
    const all = held.of(tenant)
    ok(all > 2 * 7 * size, `${all} bytes`)
    const sighting = used.survey.take('a')
    is(sighting?.objects.size, 7)
    is(used.survey.take('a'), undefined)
    is(held.of(tenant), all)
    sighting?.forget()
    is(held.of(tenant), all / 2)
    // Nobody asks, and nobody looks.
    await used.clock.step(minutes(1))
    is(held.of(tenant), 0)
    is(used.survey.take('b'), undefined)
    is(used.clock.waiting(), 0)

    const closed = await surveyed(OURS, size, memory)
    is(held.of(tenant), all)
    const last = closed.survey.take('a')
    closed.survey.close()
    is(held.of(tenant), all / 2)
    last?.forget()
    is(held.of(tenant), 0)
    is(closed.clock.waiting(), 0)
  })

  it('are not kept for workspaces that nobody has there', async () => {
    const { memory, held } = countedMemory(createMemory({ all: 4 * EACH, each: EACH }))
    const invented = Array.from({ length: 500 }, (_, at) => `invented-${at}`)
    const { survey } = await surveyed([...invented, 'a'], 1000, memory)
    is(survey.take('invented-0'), undefined)
    const sighting = survey.take('a')
    is(sighting?.objects.size, 7)
    sighting?.forget()
    is(held.of(tenant), 0)
  })

  it('leave room for the watches of the tenant', async () => {
    const { memory, held } = countedMemory(createMemory({ all: 4 * EACH, each: EACH }))
    // Half of the tenant's memory is for surveys: the first does not fit, and of the smaller ones only one does.
    is((await surveyed(['a'], EACH / 10, memory)).survey.take('a'), undefined)
    is(held.of(tenant), 0)
    const first = await surveyed(['a'], EACH / 20, memory)
    is((await surveyed(['a'], EACH / 20, memory)).survey.take('a'), undefined)
    ok(memory.has(tenant, EACH / 4, true))
    first.survey.take('a')?.forget()
    is(held.of(tenant), 0)
  })

  it('are asked for one by one while there is no room, and are listed again later', async () => {
    const { memory, held } = countedMemory(createMemory({ all: 4 * EACH, each: EACH }))
    memory.take(tenant, EACH / 2, true)
    const { survey, clock } = await surveyed(OURS, 1000, memory)
    is(survey.isAwaited('a'), false)
    is(held.of(tenant), EACH / 2)
    await clock.step(minutes(5))
    for (let n = 1; n < 10; n++) is(survey.isAwaited(`${n}`), false)
    is(survey.isAwaited('10'), true)
  })
})
