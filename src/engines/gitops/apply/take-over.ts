import type { JsonPatchStep } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { type FieldTree, type ManagedEntry, managedEntriesOf, union } from '../fields/managed-fields.ts'
import { managerOf } from '../objects/place.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

interface From {
  /** The owner who gave the object up. */
  former?: string | undefined
  /** People with kubectl. */
  byHand?: boolean
  /** Programs that kept it before us. */
  managers?: readonly string[] | undefined
}

/**
 * Makes the fields that people set with kubectl, or that a former owner applied, ours: fields that the repository lacks then
 * go with the next apply. `undefined` when there is nothing to take over. Done once, when an object is first seen: what
 * is edited later is drift, or no business of ours.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
 */
export function takingOver(
  live: AnyObject,
  owner: string,
  { former, byHand = false, managers = [] }: From,
): JsonPatchStep[] | undefined {
  const manager = managerOf(owner)
  const entries = managedEntriesOf(live)
  const theirs = entries.filter(
    (entry) => (byHand && isByHand(entry)) || isOf(entry, former) || (isApplied(entry) && managers.includes(entry.manager)),
  )
  const isMarked = byHand && live.metadata.annotations?.[LAST_APPLIED] !== undefined
  if (theirs.length === 0 && !isMarked) return undefined
  const version: JsonPatchStep = { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion }
  const mark = `/metadata/annotations/${LAST_APPLIED.replaceAll('/', '~1')}`
  const unmark: JsonPatchStep[] = isMarked ? [{ op: 'remove', path: mark }] : []
  if (theirs.length === 0) return [version, ...unmark]
  const ours = entries.find((entry) => entry.manager === manager && isApplied(entry))
  const rest = entries.filter((entry) => entry !== ours && !theirs.includes(entry))
  const managedFields = [...rest.map(({ raw }) => raw), merged(manager, ours, theirs)]
  return [version, { op: 'replace', path: '/metadata/managedFields', value: managedFields }, ...unmark]
}

/** Fields are comparable within one version of the API only; claims made in another are dropped with their owner. */
function merged(manager: string, ours: ManagedEntry | undefined, theirs: readonly ManagedEntry[]): Record<string, unknown> {
  const [base = ours, ...others] = ours ? [ours, ...theirs] : theirs
  const alike = others.filter(({ apiVersion }) => apiVersion === base?.apiVersion)
  const fields = alike.reduce<FieldTree>((sum, entry) => union(sum, claimed(entry)), base ? claimed(base) : {})
  return { ...base?.raw, manager, operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: fields }
}

/** Finalizers and owners belong to programs, whoever wrote them down; the status to its controller. */
function claimed({ fields }: ManagedEntry): FieldTree {
  const { 'f:status': _, ...rest } = fields
  const metadata = rest['f:metadata']
  if (!isRecord(metadata)) return rest
  const { 'f:finalizers': __, 'f:ownerReferences': ___, ...others } = metadata
  return { ...rest, 'f:metadata': others }
}

const isApplied = ({ operation, subresource }: ManagedEntry): boolean => operation === 'Apply' && subresource === ''

export const isByHand = ({ manager, subresource }: ManagedEntry): boolean =>
  subresource === '' && (manager === 'kubectl' || manager.startsWith('kubectl-') || manager === 'before-first-apply')

const isOf = (entry: ManagedEntry, owner: string | undefined): boolean =>
  owner !== undefined && entry.manager === managerOf(owner) && isApplied(entry)
