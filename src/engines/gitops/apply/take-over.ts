import type { JsonPatchStep } from '../../../adapters/kube/index.ts'
import { type AnyObject, groupOf } from '../../../api/index.ts'
import { Failure, isRecord } from '../../../std/index.ts'
import { keyOfId, partsOf, pointerOf, valueAt, withValueAt } from '../../apply/index.ts'
import type { IgnoreRules } from '../fields/ignore.ts'
import { type FieldTree, type ManagedEntry, managedEntriesOf, ownershipOf, parted, union } from '../fields/managed-fields.ts'
import { withoutFields } from '../fields/without-fields.ts'
import { PREFIX, wishesOf } from '../objects/annotations.ts'
import { DECIDES, isPodSecurity } from '../objects/limits.ts'
import { type Desired, managerOf, OWNER_ANNOTATION, OWNER_LABEL } from '../objects/place.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

interface From {
  /** What Git says of the object. */
  manifest: AnyObject
  /** What others may change, and Git lacks, stays with whoever set it. */
  ignore?: IgnoreRules | undefined
  /** The owner who gave the object up. */
  former?: string | undefined
  /** People with kubectl, Helm, Argo CD and Flux. */
  predecessors?: boolean
  /** Programs that kept it before us. */
  managers?: readonly string[] | undefined
}

/**
 * Makes the fields that predecessors set, or that a former owner applied, ours: fields that the repository lacks then
 * go with the next apply. `undefined` when there is nothing to take over. Done once, when an object is first seen: what
 * is edited later is drift, or no business of ours.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
 */
export function takingOver(live: AnyObject, owner: string, from: From): JsonPatchStep[] | undefined {
  const shares = sharesOf(live, owner, from)
  const isMarked = isMarkedFor(live, from)
  if (shares.theirs.length === 0 && !isMarked) return undefined
  const version: JsonPatchStep = { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion }
  const unmark: JsonPatchStep[] = isMarked ? [{ op: 'remove', path: pointerOf(MARK) }] : []
  if (shares.theirs.length === 0) return [version, ...unmark]
  return [version, owning(managersOf(shares, owner, from)), ...unmark]
}

const managersOf = ({ ours, theirs, rest }: Shares, owner: string, { manifest }: From): unknown[] => {
  // What we apply next is in the version of the manifest, so what it could take away must be.
  const base = ours ?? theirs.find(({ apiVersion }) => apiVersion === manifest.apiVersion)
  const others = theirs.filter((entry) => entry !== base)
  return [...rest.map(({ raw }) => raw), merged(managerOf(owner), base, others)]
}

const MARK = ['metadata', 'annotations', LAST_APPLIED]

/** The copy of all that was applied is nobody's once we have it. */
const isMarkedFor = ({ metadata }: AnyObject, { predecessors }: From): boolean =>
  predecessors === true && metadata.annotations?.[LAST_APPLIED] !== undefined

/** Who set what in an object that is taken over. `theirs` is what becomes ours. */
interface Shares {
  readonly ours: ManagedEntry | undefined
  readonly theirs: readonly ManagedEntry[]
  readonly rest: readonly ManagedEntry[]
}

function sharesOf(live: AnyObject, owner: string, from: From): Shares {
  const { former, predecessors = false, managers = [] } = from
  const entries = managedEntriesOf(live)
  const ours = entries.find((entry) => entry.manager === managerOf(owner) && isApplied(entry))
  const isTaken = (entry: ManagedEntry) =>
    (predecessors && isPredecessor(entry)) || isOf(entry, former) || (isApplied(entry) && managers.includes(entry.manager))
  const staying = stayingPaths(ours, from)
  const theirs: ManagedEntry[] = []
  const rest: ManagedEntry[] = []
  for (const entry of entries) {
    if (entry === ours) continue
    const [kept, others] = isTaken(entry) ? partedBy(staying, entry) : [entry]
    // An apply by a former owner, who may get the object back, must not take away what it has kept.
    if (kept) rest.push(isOf(entry, former) ? asUpdate(kept) : kept)
    if (others) theirs.push(others)
  }
  return { ours, theirs, rest }
}

/** `kubectl rollout restart`, and Argo CD, write it into the template. Without it the pods would be made anew once more. */
const RESTARTED = ['template', 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt']
const RESTARTS = [
  ['spec', ...RESTARTED],
  ['spec', 'jobTemplate', 'spec', ...RESTARTED],
]

/**
 * What Git lacks and stays with whoever set it: what others may change, and that pods were restarted, unless we had it from Git. Paths
 * lead through mappings only: places in lists are those of the manifest, and not of the cluster.
 */
function stayingPaths(ours: ManagedEntry | undefined, { manifest, ignore }: From): string[][] {
  const restarts = RESTARTS.filter((path) => !(ours && has(ours.fields, path)))
  const ignored = ignore?.pathsOf(manifest) ?? []
  return [...restarts, ...ignored.map(partsOf)].filter((path) => valueAt(manifest, path) === undefined)
}

function partedBy(paths: readonly string[][], entry: ManagedEntry): (ManagedEntry | undefined)[] {
  return parted(entry.fields, paths).map((fields) => fields && withFields(entry, fields))
}

const withFields = (entry: ManagedEntry, fields: FieldTree): ManagedEntry => ({
  ...entry,
  fields,
  raw: { ...entry.raw, fieldsV1: fields },
})

const asUpdate = (entry: ManagedEntry): ManagedEntry => ({
  ...entry,
  operation: 'Update',
  raw: { ...entry.raw, operation: 'Update' },
})

/** The object with the managers that its fields have when it has been taken over. */
export function asTaken(live: AnyObject, owner: string, from: From): AnyObject {
  const shares = sharesOf(live, owner, from)
  if (shares.theirs.length === 0) return live
  const metadata = { ...live.metadata, managedFields: managersOf(shares, owner, from) }
  return { ...live, metadata }
}

/** What we have applied by a dry run, without what would have gone if the object had been taken over before. */
export function asAfterTakeOver(applied: AnyObject, owner: string, from: From): AnyObject {
  const { ours, theirs, rest } = sharesOf(applied, owner, from)
  const alike = theirs.filter(({ apiVersion }) => apiVersion === (ours ?? theirs[0])?.apiVersion)
  const kept = ownershipOf([...(ours ? [ours] : []), ...rest].map(({ fields }) => fields))
  const left = withoutFields(applied, {
    taken: ownershipOf(alike.map(claimed)),
    keys: ownershipOf(hasFreeKeys(applied) ? alike.filter(isApplied).map(freeIn) : []),
    kept,
  })
  return isMarkedFor(left, from) && !(ours && has(ours.fields, MARK)) ? withValueAt(left, MARK, undefined) : left
}

/** No kind of Kubernetes itself has mappings of mappings. */
function hasFreeKeys({ apiVersion }: AnyObject): boolean {
  const group = groupOf(apiVersion)
  return group.includes('.') && !group.endsWith('.k8s.io')
}

function freeIn(entry: ManagedEntry): FieldTree {
  const { 'f:metadata': _, ...rest } = claimed(entry)
  return rest
}

const owning = (managedFields: unknown[]): JsonPatchStep => ({
  op: 'replace',
  path: '/metadata/managedFields',
  value: managedFields,
})

/** It goes the other way and makes what this owner has set another manager's, which takes nothing over. `undefined` when there is nothing. */
export function handingOver(live: AnyObject, owner: string, manager: string): JsonPatchStep[] | undefined {
  const entries = managedEntriesOf(live)
  const ours = entries.filter((entry) => entry.manager === managerOf(owner) && entry.subresource === '')
  const [last, ...before] = ours
  if (!last) return undefined
  const theirs = entries.filter((entry) => entry.manager === manager && isApplied(entry))
  const rest = entries.filter((entry) => !ours.includes(entry) && !theirs.includes(entry))
  const version: JsonPatchStep = { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion }
  // Of fields in two versions of the API ours are kept: the other manager says its own again with its next apply.
  return [version, owning([...rest.map(({ raw }) => raw), merged(manager, last, [...before, ...theirs])])]
}

/** The managers that own this field. */
export const appliedBy = (live: AnyObject, path: readonly string[]): string[] =>
  managedEntriesOf(live).flatMap(({ manager, fields }) => (has(fields, path) ? [manager] : []))

function has(fields: FieldTree, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true
  const below = fields[`f:${first}`]
  return isRecord(below) && has(below, rest)
}

/** Fields are comparable within one version of the API only; those of another are dropped with their owner. */
function merged(manager: string, ours: ManagedEntry | undefined, theirs: readonly ManagedEntry[]): Record<string, unknown> {
  const [base = ours, ...others] = ours ? [ours, ...theirs] : theirs
  const alike = others.filter(({ apiVersion }) => apiVersion === base?.apiVersion)
  const fields = alike.reduce<FieldTree>((sum, entry) => union(sum, claimed(entry)), base ? claimed(base) : {})
  return { ...base?.raw, manager, operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: fields }
}

/** Finalizers and owners belong to programs, whoever wrote them down; the status, and what an Application is doing, to its controller. */
function claimed({ fields }: ManagedEntry): FieldTree {
  const { 'f:status': _, 'f:operation': __, ...rest } = fields
  const metadata = rest['f:metadata']
  if (!isRecord(metadata)) return rest
  const { 'f:finalizers': ___, 'f:ownerReferences': ____, ...others } = metadata
  return { ...rest, 'f:metadata': others }
}

const isApplied = ({ operation, subresource }: ManagedEntry): boolean => operation === 'Apply' && subresource === ''

const isPredecessor = ({ manager, subresource }: ManagedEntry): boolean =>
  subresource === '' && (PREDECESSORS.includes(manager) || manager.startsWith('kubectl-'))

/**
 * These are people with kubectl, Helm as people run it and as Flux does, Argo CD by either name, and Flux. One that goes on is a
 * fight, and one that has given the object up must not hold fields for ever.
 */
const PREDECESSORS = [
  'kubectl',
  'before-first-apply',
  'helm',
  'helm-controller',
  'argocd-controller',
  'argocd-application-controller',
  'kustomize-controller',
]

const isOf = (entry: ManagedEntry, owner: string | undefined): boolean =>
  owner !== undefined && entry.manager === managerOf(owner) && isApplied(entry)

/** Tells whether another sync, which keeps an object, still wants it; `unknown`: nobody here has heard of that sync. */
export type Standing = (otherOwner: string, key: string) => 'wants' | 'releases' | 'unknown'

/** By which rules an object is taken that stands there and is not recorded as ours: for syncs that follow another program. */
export interface TakeOverRules {
  /** Field managers whose fields become ours with the object. */
  readonly managers: readonly string[]
  /** Also from another sync that wants it. */
  readonly fromOthers: boolean
  /** Why it may not be taken. */
  objection(live: AnyObject): Failure | undefined
}

/** It says what is known of another sync, unless the rules are that it is not asked. */
export const standingBy = (rules: TakeOverRules | undefined, known: Standing): Standing =>
  rules?.fromOthers ? () => 'releases' : known

/** The former owner, when the object may be taken from it; `undefined` when nobody else keeps it. Throws when it may not. */
export function formerOwner(
  { id, object }: Desired,
  live: AnyObject | undefined,
  owner: string,
  standing: Standing | undefined,
): string | undefined {
  const otherOwner = live?.metadata.labels?.[OWNER_LABEL]
  if (otherOwner === undefined || otherOwner === owner) return undefined
  const word = standing?.(otherOwner, keyOfId(id)) ?? 'unknown'
  if (word === 'releases' || (word === 'unknown' && wishesOf(object).adopt)) return otherOwner
  const title = live?.metadata.annotations?.[OWNER_ANNOTATION] ?? 'another sync'
  throw new Failure('already-exists', `is kept by ${title}`, {
    reason: 'KeptByOther',
    remedy:
      word === 'wants'
        ? 'Remove the object from one of the two.'
        : `Remove the object from the other, or annotate the manifest ${PREFIX}adopt: "true" to take it over.`,
  })
}

/** A namespace may lose such a label without a word: when it was ours, or is taken over from whoever wrote it. */
export const isAtStake = ({ id }: Desired, { podSecurityLabels }: { podSecurityLabels?: boolean | undefined }): boolean =>
  !podSecurityLabels && id.group === '' && id.kind === 'Namespace'

/** Throws when an apply of a manifest without such labels would take one away. `isNew`: what predecessors wrote is taken over. */
export function keepPodSecurity(live: AnyObject, owner: string, isNew: boolean): void {
  const label = managedEntriesOf(live)
    .filter(
      (entry) => entry.manager === managerOf(owner) || entry.manager.startsWith(managerOf('')) || (isNew && isPredecessor(entry)),
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
