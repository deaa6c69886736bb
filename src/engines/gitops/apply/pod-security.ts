import type { AnyObject } from '../../../api/index.ts'
import { Failure, isRecord } from '../../../std/index.ts'
import { managedEntriesOf } from '../fields/managed-fields.ts'
import { DECIDES, isPodSecurity } from '../objects/limits.ts'
import { type Desired, managerOf } from '../objects/place.ts'
import type { Writing } from './case.ts'
import { isByHand } from './take-over.ts'

/** A namespace may lose such a label without a word: when it was ours, or is taken over from whoever wrote it. */
export const isAtStake = ({ id }: Desired, { podSecurityLabels }: Writing): boolean =>
  !podSecurityLabels && id.group === '' && id.kind === 'Namespace'

/** Throws when an apply of a manifest without such labels would take one away. `isNew`: what people wrote is taken over. */
export function keepPodSecurity(live: AnyObject, owner: string, isNew: boolean): void {
  const label = managedEntriesOf(live)
    .filter(
      (entry) => entry.manager === managerOf(owner) || entry.manager.startsWith(managerOf('')) || (isNew && isByHand(entry)),
    )
    .flatMap(({ fields }) => labelsIn(fields))
    .find(isPodSecurity)
  if (label === undefined) return
  throw new Failure('forbidden', `carries the label ${label} in the cluster, which ${DECIDES} as it is`, {
    reason: 'PodSecurityLabels',
  })
}

function labelsIn(fields: Record<string, unknown>): string[] {
  const metadata = fields['f:metadata']
  const labels = isRecord(metadata) ? metadata['f:labels'] : undefined
  return isRecord(labels) ? Object.keys(labels).map((name) => name.replace(/^f:/, '')) : []
}
