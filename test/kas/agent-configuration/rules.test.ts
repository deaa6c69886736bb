import { equal, is } from 'uvu/assert'
import { Store } from '../../../src/adapters/kube/store.ts'
import { type Agent, type GitProject, keyOf, type Ref } from '../../../src/api/index.ts'
import { createAccessRules, createConfigurationFinder } from '../../../src/kas/agent-configuration/index.ts'
import { createProjectGate } from '../../../src/kas/authorization/index.ts'
import { createPace } from '../../../src/kas/git-polling/pace.ts'
import { Poll } from '../../../src/kas/git-polling/poll.ts'
import type { PollSighting, Polls } from '../../../src/kas/ports/ports.ts'
import { projectsOf } from '../../../src/kas/projects/project.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { Failure, hours, minutes, seconds, silentLog } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { ownPrefixes, project } from '../running-kas.ts'

const ref = { name: 'dev', namespace: 'home' }
const FILE = '.berth/agents/dev/config.yaml'
const admits = (id: string) => `flux: {}\nuser_access: { access_as: { user: {} }, projects: [{ id: ${id} }] }`

/** A commit with this file, or without one. */
function commit(text: string | undefined): PollSighting {
  const data = Buffer.from(text ?? '')
  const files = text === undefined ? [] : [{ path: FILE, blob: 'x', size: data.length }]
  const id = `commit of ${text}`
  return {
    snapshot: {
      commit: id,
      refName: 'refs/heads/main',
      isFetched: true,
      earlier: undefined,
      tree: async () => treeOf(files),
      read: async () => [data],
      line: async () => undefined,
    },
  }
}
const away: PollSighting = { failure: new Failure('unavailable', 'no Git server') }

/** The rules of one Agent whose repository is what `server` says; the poll, the gate and the caches are kas' own. */
function given() {
  const clock = steppedClock()
  const agents = new Store<Agent>()
  const cache = new Store<GitProject>()
  let version = 1
  const resourceVersion = () => String(version++)
  const agent = (uid: string, configurationProject = 'home/config') =>
    agents.put({
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Agent',
      metadata: { ...ref, uid, resourceVersion: resourceVersion() },
      spec: { configurationProject },
    })
  const publish = (name: string, spec: Partial<GitProject['spec']> = {}) => {
    const object = project('home', name, { url: `https://example.com/${name}`, pollInterval: '20s', ...spec })
    cache.put({ ...object, metadata: { ...object.metadata, uid: name, generation: version, resourceVersion: resourceVersion() } })
  }
  const server: Record<string, PollSighting> = {}
  const looks: string[] = []
  const ending = new AbortController()
  const follow: Polls['follow'] = (from, _, by) => {
    const { name } = from.ref
    const look = async () => {
      looks.push(name)
      return server[name] ?? away
    }
    const poll = new Poll({ clock, report: () => undefined, pace: createPace(clock), look })
    const following = poll.follow(from, by)
    void poll.run(ending.signal)
    return following
  }
  const projects = projectsOf(cache, ownPrefixes)
  const identities = { agents, clock, operator: ref, reviewToken: async () => ref }
  const gate = createProjectGate({ projects, identities, rate: () => undefined, onUsed: () => undefined })
  const rules = createAccessRules({
    agents,
    projects,
    gate,
    polls: { follow },
    findConfiguration: createConfigurationFinder(),
    clock,
    log: silentLog,
  })
  const news: string[] = []
  rules.onChange((one: Ref) => news.push(keyOf(one)))
  const admitted = async () => {
    const found = rules.of(ref)
    await clock.step(seconds(1))
    return (await found)?.userAccess?.projects.map(({ id }) => id)
  }
  const close = async () => {
    await rules.stop()
    ending.abort()
    await clock.step(0)
    is(clock.waiting(), 0)
  }
  return { clock, agents, cache, agent, publish, server, looks, rules, news, admitted, close }
}

describe('kas: who may reach the cluster of an agent', (it) => {
  it('is read when somebody asks, also of an agent that is not here, and followed from then on', async () => {
    const { clock, agent, publish, server, looks, rules, news, admitted, close } = given()
    publish('config')
    agent('u1')
    server.config = commit(admits('a/b'))
    equal(looks, [])
    equal(await admitted(), ['a/b'])
    const first = await rules.of(ref)
    is(first?.flux, undefined)
    server.config = commit(`${admits('a/b')} # the same by another text`)
    await clock.step(seconds(30))
    is(await rules.of(ref), first)
    server.config = commit(admits('c/d'))
    await clock.step(seconds(30))
    equal(await admitted(), ['c/d'])
    equal(news, ['home/dev', 'home/dev'])
    await close()
  })

  it('is nobody for an Agent that there is not, and for one without a file', async () => {
    const { agent, publish, server, admitted, close } = given()
    publish('config')
    is(await admitted(), undefined)
    agent('u1')
    server.config = commit(undefined)
    is(await admitted(), undefined)
    await close()
  })

  it('stays while there are mistakes, and goes with the file', async () => {
    const { clock, agent, publish, server, admitted, close } = given()
    publish('config')
    agent('u1')
    server.config = commit(admits('a/b'))
    equal(await admitted(), ['a/b'])
    server.config = commit('user_access: 7')
    await clock.step(seconds(30))
    equal(await admitted(), ['a/b'])
    server.config = commit(undefined)
    await clock.step(seconds(30))
    is(await admitted(), undefined)
    server.config = commit(admits('a/b'))
    await clock.step(seconds(30))
    equal(await admitted(), ['a/b'])
    server.config = { empty: true }
    await clock.step(seconds(30))
    is(await admitted(), undefined)
    await close()
  })

  it('stays for an hour while the repository cannot be read, and is known again afterwards', async () => {
    const { clock, agent, publish, server, admitted, close } = given()
    publish('config')
    agent('u1')
    server.config = commit(admits('a/b'))
    await admitted()
    server.config = away
    for (let minute = 0; minute < 55; minute += 5) {
      await clock.step(minutes(5))
      equal(await admitted(), ['a/b'], `after ${minute} minutes`)
    }
    await clock.step(minutes(9))
    is(await admitted(), undefined)
    server.config = commit(admits('a/b'))
    await clock.step(minutes(6))
    equal(await admitted(), ['a/b'])
    await close()
  })

  it('goes when the agent may not read the project any more, or the project goes, and comes back with it', async () => {
    const { clock, cache, agent, publish, server, news, admitted, close } = given()
    publish('config')
    agent('u1')
    server.config = commit(admits('a/b'))
    await admitted()
    const [object] = cache.in('home')
    if (object) cache.remove({ ...object, metadata: { ...object.metadata, resourceVersion: '1000' } })
    is(await admitted(), undefined)
    equal(news, ['home/dev', 'home/dev'])
    cache.put({
      ...project('home', 'config', { url: 'https://x' }),
      metadata: { name: 'config', namespace: 'home', resourceVersion: '1001' },
    })
    await clock.step(seconds(1))
    equal(await admitted(), ['a/b'])
    await close()
  })

  it('comes from the project that the Agent names now, and counts for no other Agent of its name', async () => {
    const { clock, agents, agent, publish, server, admitted, close } = given()
    publish('config')
    publish('other')
    agent('u1')
    server.config = commit(admits('a/b'))
    server.other = commit(admits('c/d'))
    equal(await admitted(), ['a/b'])
    agent('u1', 'home/other')
    equal(await admitted(), ['c/d'])
    const [old] = agents.all()
    if (old) agents.remove({ ...old, metadata: { ...old.metadata, resourceVersion: '1000' } })
    is(await admitted(), undefined)
    server.other = away
    agents.put({ ...(old ?? never()), metadata: { ...ref, uid: 'u2', resourceVersion: '1001' } })
    is(await admitted(), undefined)
    await clock.step(hours(1))
    await close()
  })

  it('is not looked for any more when nobody has asked for a while', async () => {
    const { clock, agent, publish, server, looks, admitted, close } = given()
    publish('config')
    agent('u1')
    server.config = commit(admits('a/b'))
    await admitted()
    await clock.step(minutes(12))
    const before = looks.length
    await clock.step(hours(1))
    is(looks.length, before)
    is(clock.waiting(), 0)
    equal(await admitted(), ['a/b'])
    await close()
  })
})

function never(): never {
  throw new Failure('internal', 'there was an Agent')
}
