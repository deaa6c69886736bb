import { equal, is } from 'uvu/assert'
import { Store } from '../../../src/adapters/kube/store.ts'
import type { Agent } from '../../../src/api/index.ts'
import { holderOf, type KnownToken, knownTokensOf } from '../../../src/kas/tokens/token-holder.ts'
import { systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const sha256 = 'a'.repeat(64)

interface Traits {
  day: number
  generation?: number
  known?: KnownToken
  isDeleting?: boolean
}

const agentOf = (name: string, { day, generation = 1, known, isDeleting }: Traits): Agent => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Agent',
  metadata: {
    name,
    namespace: 'home',
    uid: `uid-of-${name}`,
    generation,
    creationTimestamp: `2030-01-0${day}T00:00:00Z`,
    ...(isDeleting && { deletionTimestamp: '2030-02-01T00:00:00Z' }),
  },
  spec: { configurationProject: 'home/config', tokens: [{ name: 'first', sha256 }] },
  status: known ? { tokens: [known] } : {},
})

const first: KnownToken = { sha256 }
const copied: KnownToken = { sha256, copied: true }

/** Who has the token of Agents `a`, `b`, …, and what is written down of each. */
function judged(...traits: Traits[]) {
  const agents = new Store<Agent>()
  const all = traits.map((each, at) => agentOf('abc'.charAt(at), each))
  for (const agent of all) agents.put(agent)
  const found = all.map((agent) => knownTokensOf(agent, agents)[0])
  const words = found.map((token) => (token === undefined ? 'open' : token.copied ? 'copied' : 'first'))
  return { holder: holderOf({ agents, clock: systemClock }, sha256)?.agent.metadata.name, words }
}

describe('Who has a token', (it) => {
  it('is the Agent in which its digest stands', () => equal(judged({ day: 1, generation: 7 }), { holder: 'a', words: ['first'] }))

  it('is the oldest of several', () =>
    equal(judged({ day: 2 }, { day: 1 }, { day: 3 }), { holder: 'b', words: ['copied', 'first', 'copied'] }))

  it('is nobody while the oldest of several may have got it later', () =>
    equal(judged({ day: 1, generation: 2 }, { day: 2 }), { holder: undefined, words: ['open', 'open'] }))

  it('is the one that is known to have had it first, whatever its age', () =>
    equal(judged({ day: 1 }, { day: 2, generation: 5, known: first }), { holder: 'b', words: ['copied', 'first'] }))

  it('is not the copy when the first one is on its way out, or gone', () => {
    equal(judged({ day: 1, known: first, isDeleting: true }, { day: 2 }).words, ['first', 'copied'])
    is(judged({ day: 1, known: first, isDeleting: true }, { day: 2 }).holder, undefined)
    is(judged({ day: 1, known: copied }).holder, undefined)
    equal(judged({ day: 1, known: copied }, { day: 2 }), { holder: 'b', words: ['copied', 'first'] })
  })
})
