import { type Judgement, judgeAccess, type Way } from '../../engines/access/index.ts'
import type { Clock } from '../../std/index.ts'
import { type MayOpen, type RequestCredentials, ROLE_COUNTS, type RoutedWorkspace } from './ports.ts'

interface JudgeServices {
  /** Asks the roles of the cluster, where they count. */
  mayOpen: MayOpen | undefined
  clock: Clock
}

/** Roles are asked about only if nothing else lets somebody in. */
export async function judge(
  { mayOpen, clock }: JudgeServices,
  { workspace, port }: { workspace: RoutedWorkspace; port: Way },
  { session, links }: RequestCredentials,
): Promise<Judgement> {
  const now = clock.now()
  const known = { rules: workspace.rules, port, person: session?.person, links, now }
  const judgement = judgeAccess(known)
  if (judgement.may || !session || !mayOpen || (judgement.why !== 'NotShared' && judgement.why !== 'ShareExpired'))
    return judgement
  if (!(await mayOpen(session.person, workspace))) return judgement
  const byRole = judgeAccess({ ...known, hasRole: true })
  return byRole.may ? { ...byRole, until: Math.min(byRole.until, now + ROLE_COUNTS) } : byRole
}
