import type { GitOpsDeployment } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { berth, titleOf } from './deployment.ts'

/** Pure. The revision to go back to: what was asked for, or the last one that was well and is not in effect now. */
export function chooseRevision(deployment: GitOpsDeployment, asked: string | undefined): string {
  const known = [...new Set((deployment.status?.history ?? []).map(({ revision }) => revision))]
  if (asked === undefined) return lastOther(deployment, known)
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

function lastOther(deployment: GitOpsDeployment, known: readonly string[]): string {
  const other = known.find((revision) => revision !== deployment.status?.sync?.revision)
  if (other !== undefined) return other
  throw new Failure('not-found', `${titleOf(deployment)} knows of no other commit that was in effect as a whole.`, {
    remedy: 'Name one with --to.',
  })
}
