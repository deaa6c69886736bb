import { Workspaces } from '../api/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import type { MayOpen } from './web/ports.ts'

/**
 * Asks whether the roles of the cluster allow the verb `open` on the Workspace. That is one fact among others: whether somebody gets in
 * is decided in engines/access/judge.ts.
 */
export const createMayOpen =
  ({ may }: Permissions): MayOpen =>
  (person, { ref }) =>
    may(person, { verb: 'open', kind: Workspaces, ...ref })
