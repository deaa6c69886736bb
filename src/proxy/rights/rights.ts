import { isAllowed, type Kube } from '../../adapters/kube/index.ts'
import type { Person } from '../../engines/access/index.ts'
import { type Clock, remembered, seconds } from '../../std/index.ts'
import type { House, Rights } from '../ports.ts'

/** An answer counts so long for who asks next. */
const FRESH = seconds(3)
const MOST = 10_000

/** The verb `open` on the Workspace, asked of the API server. */
export function createRights(kube: Kube, clock: Clock): Rights {
  const ask = ({ person: { user, groups }, house: { workspace } }: { person: Person; house: House }): Promise<boolean> => {
    const { name, namespace } = workspace
    // As the API server has it for everybody whom it knows.
    const subject = { user, groups: [...groups, 'system:authenticated'] }
    return isAllowed(kube, subject, { group: 'berth.dev', resource: 'workspaces', verb: 'open', namespace, name })
  }
  // Everything that is asked for, delimited: no two questions have one key.
  const keyOf = ({ person: { user, groups }, house: { workspace } }: { person: Person; house: House }): string =>
    JSON.stringify([user, groups, workspace.namespace, workspace.name])
  const mayOpen = remembered(ask, keyOf, clock, { fresh: FRESH, most: MOST })
  return { mayOpen: (person, house) => mayOpen({ person, house }) }
}
