import { create } from '@bufbuild/protobuf'
import { equal, is, throws } from 'uvu/assert'
import type { Cache } from '../../../src/adapters/kube/index.ts'
import { type Agent, keyOf } from '../../../src/api/index.ts'
import { connectedAgents, createRoll } from '../../../src/kas/agent-registration/index.ts'
import type { AgentPass } from '../../../src/kas/ports/ports.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { AgentMetaSchema } from '../../../src/rpc/index.ts'
import { minutes, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { project } from '../running-kas.ts'

const pass = (name: string): AgentPass => ({
  agent: { name, namespace: 'home' },
  uid: `uid-${name}`,
  id: BigInt(name.length),
  ended: new AbortController().signal,
  close: () => undefined,
})
const meta = (podName: string, version = 'v1') => create(AgentMetaSchema, { podName, podNamespace: 'ns', version })

describe('kas: roll of pods', (it) => {
  const given = (recalled = { pods: [{ podId: '77', name: 'known', namespace: 'ns' }], isElsewhere: false }) => {
    const clock = steppedClock()
    const roll = createRoll({ clock, recall: () => recalled })
    const news: string[] = []
    roll.onChange((agent) => news.push(keyOf(agent)))
    const names = () => roll.of('uid-dev').map(({ name }) => name)
    return { clock, roll, news, names }
  }

  it('has a pod as long as it registers, and a little longer', async () => {
    const { clock, roll, news, names } = given()
    roll.register(pass('dev'), meta('a'), 1n)
    await clock.step(minutes(5))
    roll.register(pass('dev'), meta('a'), 1n)
    await clock.step(minutes(5.9))
    equal(names(), ['a'])
    is(news.length, 1)
    await clock.step(minutes(0.2))
    equal(names(), [])
    is(news.length, 2)
    is(clock.waiting(), 0)
  })

  it('has a pod as long as a stream of it is open, and soon no more when it hangs up', async () => {
    const { clock, roll, names } = given()
    const leave = roll.enter(pass('dev'), meta('a'))
    const leaveToo = roll.enter(pass('dev'), meta('a'))
    await clock.step(minutes(60))
    equal(names(), ['a'])
    leave(true)
    await clock.step(minutes(60))
    equal(names(), ['a'])
    leaveToo(true)
    await clock.step(seconds(9))
    equal(names(), ['a'])
    await clock.step(seconds(2))
    equal(names(), [])
  })

  it('waits longer for a pod whose stream kas has ended', async () => {
    const { clock, roll, names } = given()
    roll.enter(pass('dev'), meta('a'))(false)
    await clock.step(minutes(5))
    equal(names(), ['a'])
    await clock.step(minutes(2))
    equal(names(), [])
  })

  it('takes a stream and a registration of one pod for one pod, and gives back the number it had', () => {
    const { roll, news } = given()
    roll.enter(pass('dev'), meta('a'))
    roll.register(pass('dev'), meta('a', 'v2'), 5n)
    roll.enter(pass('dev'), meta('known'))
    equal(
      roll.of('uid-dev').map(({ podId, version }) => [podId, version]),
      [
        ['5', 'v2'],
        ['77', 'v1'],
      ],
    )
    is(news.length, 3)
  })

  it('tells two pods of one name apart by their numbers', () => {
    const { roll } = given()
    roll.register(pass('dev'), meta('a'), 5n)
    roll.register(pass('dev'), meta('a'), 6n)
    is(roll.of('uid-dev').length, 2)
  })

  it('keeps no more than a hundred pods of one agent', () => {
    const { roll } = given()
    for (let at = 0; at < 100; at++) roll.register(pass('dev'), meta(`p${at}`), BigInt(at))
    throws(() => roll.register(pass('dev'), meta('more'), 1000n), /100 pods already/)
    roll.enter(pass('dev'), meta('more still'))(true)
    is(roll.of('uid-dev').length, 100)
    roll.register(pass('other'), meta('a'), 1n)
    is(roll.of('uid-other').length, 1)
  })

  const [here, there] = ['10.0.0.1:4000', '10.0.0.2:4000']

  it('has a pod as long as tunnels of it are open, though it has not come back for its configuration', async () => {
    const { clock, roll, news, names } = given()
    const leave = roll.enter(pass('dev'), meta('a'), { peer: here })
    const close = roll.tunnel(pass('dev'), '10.0.0.1:4001')
    leave(true)
    await clock.step(minutes(20))
    equal(names(), ['a'])
    close()
    await clock.step(seconds(11))
    equal(names(), [])
    is(news.length, 2)
    is(clock.waiting(), 0)
  })

  it('has a pod again that comes back with tunnels first', async () => {
    const { clock, roll, names } = given({ pods: [], isElsewhere: false })
    roll.enter(pass('dev'), meta('a'), { peer: here, reports: false })(true)
    await clock.step(seconds(11))
    equal(names(), [])
    const close = roll.tunnel(pass('dev'), here)
    await clock.step(seconds(9))
    equal(names(), [], 'it may say who it is')
    await clock.step(seconds(2))
    equal(
      roll.of('uid-dev').map(({ name, reports }) => [name, reports]),
      [['a', false]],
    )
    const leave = roll.enter(pass('dev'), meta('b'), { peer: here })
    await clock.step(seconds(11))
    equal(names(), ['b'], 'it was another one')
    leave(true)
    close()
    await clock.step(seconds(11))
    equal([names(), clock.waiting()], [[], 0])
  })

  it('knows a pod with tunnels alone by the status, and calls it unnamed where that says nothing', async () => {
    const { clock, roll } = given()
    roll.tunnel(pass('dev'), here)
    await clock.step(seconds(11))
    equal(
      roll.of('uid-dev').map(({ name, podId }) => [name, podId]),
      [['known', '77']],
    )
    const other = given({ pods: [], isElsewhere: false })
    other.roll.tunnel(pass('dev'), here)
    await other.clock.step(seconds(11))
    equal(other.names(), ['unnamed'])
    other.roll.enter(pass('dev'), meta('a'), { peer: here })
    equal(other.names(), ['a'])
  })

  it('leaves the pod of tunnels to another kas that lives', async () => {
    const recalled = { pods: [{ podId: '5', name: 'a', namespace: 'ns' }], isElsewhere: true }
    const { clock, roll, names } = given(recalled)
    roll.tunnel(pass('dev'), here)
    await clock.step(minutes(5))
    equal(names(), [])
    recalled.isElsewhere = false
    await clock.step(seconds(11))
    equal(names(), ['a'])
  })

  it('takes the tunnels of one pod for no other one', async () => {
    const { clock, roll, names } = given()
    const [a, b] = [roll.enter(pass('dev'), meta('a'), { peer: here }), roll.enter(pass('dev'), meta('b'), { peer: there })]
    roll.tunnel(pass('dev'), here)
    const close = roll.tunnel(pass('dev'), there)
    b(true)
    await clock.step(minutes(1))
    equal(names(), ['a', 'b'])
    close()
    await clock.step(seconds(11))
    equal(names(), ['a'])
    roll.tunnel(pass('dev'), there)
    await clock.step(seconds(11))
    equal(names(), ['a', 'b'])
    a(true)
  })

  it('leaves nothing of an agent that is forgotten', async () => {
    const { clock, roll, names } = given()
    const leave = roll.enter(pass('dev'), meta('a'))
    roll.forget('uid-dev')
    equal(names(), [])
    leave(true)
    roll.tunnel(pass('dev'), here)
    roll.forget('uid-dev')
    await clock.step(minutes(1))
    is(clock.waiting(), 0)
  })

  it('answers who is connected, by agent and by project', () => {
    const { roll, clock } = given()
    roll.register(pass('dev'), meta('a'), -1n)
    roll.register(pass('other'), meta('b'), 2n)
    const agents: Pick<Cache<Agent>, 'get'> = {
      get: ({ name }) => ({
        apiVersion: 'berth.dev/v1alpha1',
        kind: 'Agent',
        metadata: { name, namespace: 'home' },
        spec: { configurationProject: name },
      }),
    }
    const configuring = projectFrom(project('home', 'config', { url: 'https://git.example.com/config' }))
    const projects = { named: (path: string) => (path === 'dev' ? [{ ...configuring, id: 9n }] : []) }
    const ask = (request: Parameters<typeof connectedAgents>[1]['request']) =>
      connectedAgents({ roll, agents, projects }, { request }).map(({ agentMeta, connectionId, agentId, projectId }) => [
        agentMeta?.podName,
        connectionId,
        agentId,
        projectId,
      ])
    equal(ask({ case: 'agentId', value: 5n }), [['b', 2n, 5n, 0n]])
    equal(ask({ case: 'projectId', value: 9n }), [['a', -1n, 3n, 9n]])
    equal(ask({ case: undefined }), [])
    is(clock.now() > 0, true)
  })
})
