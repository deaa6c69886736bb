import type { GitOpsDeployment } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { berth, titleOf } from './deployment.ts'

const knownOf = ({ status }: GitOpsDeployment): string[] => [...new Set((status?.history ?? []).map(({ revision }) => revision))]

/** Pure. The revision that was asked for. */
export function revisionMeant(deployment: GitOpsDeployment, asked: string): string {
  const known = knownOf(deployment)
  const meant = known.filter((revision) => revision.startsWith(asked))
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  if (meant.length > 1) throw new Failure('invalid', `${asked} may be ${meant.join(' or ')}.`, { remedy: 'Write more digits.' })
  // What Git would call a short commit only kas could resolve, and it takes it for a branch.
  if (!/^[0-9a-f]{4,39}$/.test(asked)) return asked
  throw new Failure('not-found', `commit ${asked} is not in the history of ${titleOf(deployment)}.`, {
    remedy: `Write the whole commit, or one of \`${berth('history', deployment)}\`.`,
  })
}

/** Pure. Those that were well and are not in effect now, the newest first. */
export function otherRevisions(deployment: GitOpsDeployment): string[] {
  const others = knownOf(deployment).filter((revision) => revision !== deployment.status?.sync?.revision)
  if (others.length > 0) return others
  throw new Failure('not-found', `${titleOf(deployment)} knows of no other commit that was in effect as a whole.`, {
    remedy: 'Name one with --to.',
  })
}
