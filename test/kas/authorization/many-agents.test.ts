import { createHash } from 'node:crypto'
import { equal, is } from 'uvu/assert'
import type { Cache } from '../../../src/adapters/kube/index.ts'
import { Store } from '../../../src/adapters/kube/store.ts'
import type { Agent, GitProject } from '../../../src/api/index.ts'
import { createAgentGate, createProjectGate } from '../../../src/kas/authorization/index.ts'
import { projectsOf } from '../../../src/kas/projects/project.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { ownPrefixes, project } from '../running-kas.ts'

const COUNT = 1000
const nameOf = (n: number) => `agent-${n}`
const bearer = (n: number) => `Bearer token-${n}`
const sha256 = (n: number) => createHash('sha256').update(`token-${n}`).digest('hex')

/** Caches, and how often somebody has looked into them. */
function given() {
  const agents = new Store<Agent>()
  const cache = new Store<GitProject>()
  let looks = 0
  const counted = <T extends Agent | GitProject>(store: Store<T>): Cache<T> => ({
    get(ref) {
      looks++
      return store.get(ref)
    },
    by(index, value) {
      looks++
      return store.by(index, value)
    },
    all: () => store.all(),
    in: (namespace) => store.in(namespace),
    onChange: (listener) => store.onChange(listener),
    onChangeOf: (ref, listener) => store.onChangeOf(ref, listener),
    onChangeBy: (index, value, listener) => store.onChangeBy(index, value, listener),
    size: 0,
  })
  let version = 1
  const metadata = (name: string, more: object = {}) => ({
    ...{ name, namespace: 'home', uid: name, generation: 1, resourceVersion: String(version++) },
    ...more,
  })
  const agent = (n: number, tokens = [n]) =>
    agents.put({
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Agent',
      metadata: metadata(nameOf(n)),
      spec: { configurationProject: 'home/config', tokens: tokens.map((one) => ({ name: `t${one}`, sha256: sha256(one) })) },
    })
  const publish = (name: string, generation = 1) => {
    const object = project('home', name, { url: `https://example.com/${name}` })
    cache.put({ ...object, metadata: metadata(name, { generation }) })
  }
  for (let n = 0; n < COUNT; n++) agent(n)
  const clock = steppedClock()
  const identities = {
    agents: counted(agents),
    clock,
    operator: { name: 'o', namespace: 'o' },
    reviewToken: async () => ({ name: '', namespace: '' }),
  }
  const rate = () => undefined
  const agentGate = createAgentGate({ ...identities, rate })
  const gate = createProjectGate({ projects: projectsOf(counted(cache), ownPrefixes), identities, rate, onUsed: () => undefined })
  const looksAt = (change: () => void): number => {
    const before = looks
    change()
    return looks - before
  }
  return { agent, publish, agentGate, gate, looksAt }
}

describe('a thousand agents that are let in', (it) => {
  const all = Array.from({ length: COUNT }, (_, n) => n)
  const claim = (n: number) => ({
    authorization: bearer(n),
    path: 'home/config',
    namespace: undefined,
    serviceAccount: undefined,
    projectUid: undefined,
    peer: '127.0.0.1',
  })

  const waiting = { signal: new AbortController().signal, onUntrusted: () => undefined }

  it('cost a look for the one that has changed, and none for the others', () => {
    const { agent, agentGate, looksAt } = given()
    const passes = all.map((n) => agentGate.admit(bearer(n)))
    is(
      looksAt(() => agent(7)),
      1,
    )
    // Who has somebody else's token beside his own is the reason to look at that one.
    is(
      looksAt(() => agent(8, [8, 9])),
      2,
    )
    equal(ended(passes), [9])
  })

  it('cost no more while each of them follows a project, as one that it shows a token for and as one that kas follows for it', async () => {
    const { agent, publish, gate, looksAt } = given()
    publish('config')
    publish('other')
    const admissions = (await Promise.all(all.map((n) => gate.admit(claim(n), waiting)))).flatMap((one) => one ?? [])
    is(admissions.length, COUNT)
    const own = all.map((n) => gate.admitAgent({ name: nameOf(n), namespace: 'home' }, 'home/config'))
    // Its token, itself, and twice the project.
    is(
      looksAt(() => agent(7)),
      4,
    )
    is(
      looksAt(() => publish('other', 2)),
      0,
    )
    // All of them read this one.
    is(
      looksAt(() => publish('config', 2)),
      4 * COUNT,
    )
    agent(7, [])
    equal(ended(admissions), [7])
    equal(ended(own), [])
  })

  it('cost nothing when they have left', async () => {
    const { agent, publish, agentGate, gate, looksAt } = given()
    publish('config')
    for (const n of all) agentGate.admit(bearer(n)).close()
    for (const admission of await Promise.all(all.map((n) => gate.admit(claim(n), waiting)))) admission?.close()
    is(
      looksAt(() => agent(7)),
      0,
    )
    is(
      looksAt(() => publish('config', 2)),
      0,
    )
  })
})

const ended = (all: readonly { ended: AbortSignal }[]): number[] => all.flatMap((one, n) => (one.ended.aborted ? [n] : []))
