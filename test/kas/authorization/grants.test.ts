import { is } from 'uvu/assert'
import { mayRead } from '../../../src/kas/authorization/index.ts'
import type { Caller } from '../../../src/kas/ports/ports.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { describe } from '../../support/suite.ts'
import { project } from '../running-kas.ts'

type Spec = Parameters<typeof project>[2]

const agent = (namespace: string, name: string): Caller => ({ kind: 'agent', namespace, name })
const account = (namespace: string, name?: string): Caller => ({ kind: 'service-account', namespace, name })
const grants = (to: NonNullable<Spec['grants']>): Partial<Spec> => ({ grants: to })

const CASES: [why: string, caller: Caller, spec: Partial<Spec>, may: boolean][] = [
  ['an agent of the own namespace needs no grant', agent('home', 'a'), {}, true],
  ['a namespace reads its own projects', account('home'), {}, true],
  ['a private project is closed to other agents', agent('away', 'a'), {}, false],
  ['a private project is closed to other namespaces', account('away'), {}, false],
  ['internal is open to every namespace as a whole', account('away'), { visibility: 'internal' }, true],
  ['so is public', account('away'), { visibility: 'public' }, true],
  ['to an agent it is not granted by that', agent('away', 'a'), { visibility: 'public' }, false],
  ['nor to a service account that applies it', account('away', 'a'), { visibility: 'internal' }, false],
  ['two stars are every agent', agent('away', 'b'), grants({ agents: [{ name: '*', namespace: '*' }] }), true],
  ['a namespace of all is not all names', agent('away', 'b'), grants({ agents: [{ name: 'a', namespace: '*' }] }), false],
  ['a grant names an agent', agent('away', 'a'), grants({ agents: [{ name: 'a', namespace: 'away' }] }), true],
  ['and no other of that namespace', agent('away', 'b'), grants({ agents: [{ name: 'a', namespace: 'away' }] }), false],
  ['and none of that name elsewhere', agent('elsewhere', 'a'), grants({ agents: [{ name: 'a', namespace: 'away' }] }), false],
  ['a star is every agent of the namespace', agent('away', 'b'), grants({ agents: [{ name: '*', namespace: 'away' }] }), true],
  [
    'a grant to an agent is none to a service account',
    account('away', 'a'),
    grants({ agents: [{ name: 'a', namespace: 'away' }] }),
    false,
  ],
  [
    'a grant names a service account',
    account('away', 'a'),
    grants({ serviceAccounts: [{ name: 'a', namespace: 'away' }] }),
    true,
  ],
  [
    'which does not speak for its namespace',
    account('away'),
    grants({ serviceAccounts: [{ name: 'a', namespace: 'away' }] }),
    false,
  ],
  ['a star does', account('away'), grants({ serviceAccounts: [{ name: '*', namespace: 'away' }] }), true],
]

describe('grants of a GitProject', (it) => {
  for (const [why, caller, spec, may] of CASES) {
    it(why, () =>
      is(mayRead(caller, projectFrom(project('home', 'shop', { url: 'https://example.com/shop', ...spec }))), may, why),
    )
  }
})
