import type { Kube } from '../../adapters/kube/index.ts'
import {
  ConfigMaps,
  type Deployment,
  Deployments,
  isDeleting,
  type Kind,
  type KubeObject,
  labels,
  NetworkPolicies,
  PersistentVolumeClaims,
  ResourceQuotas,
  refOf,
  Secrets,
  Services,
  type Workspace,
} from '../../api/index.ts'
import { Failure, quantity } from '../../std/index.ts'
import { haveSamePieces, type Piece } from './desired/index.ts'
import { holds } from './drift.ts'
import { OBJECT_TAKEN, own } from './foreign.ts'
import { applyManifests, MANIFEST_REASONS } from './manifests.ts'
import { VARIABLE_REASONS } from './variables.ts'

/** The reasons that mean: the objects could not be applied. */
const FAILED = 'ApplyFailed'
const APPLY_REASONS: readonly string[] = [
  FAILED,
  OBJECT_TAKEN,
  ...Object.values(MANIFEST_REASONS),
  ...Object.values(VARIABLE_REASONS),
]

export const isApplyFailure = ({ reason = '' }: Failure): boolean => APPLY_REASONS.includes(reason)

export interface Work {
  /** The target. */
  kube: Kube
  workspace: Workspace
  pieces: readonly Piece[]
  manifests: readonly KubeObject[]
  /** Where the manifests are listed. */
  book: KubeObject
  /** False where it is known that there is none. */
  mayHaveBook: boolean
  deployment: Deployment
  /** The Deployment as it was seen last, if everything beside it was compared not long ago. */
  known?: Deployment | undefined
  /** What is there already and stays. */
  kept: readonly KubeObject[]
  manager: string
}

/** Whether the Deployment was made from this plan and nobody changed it since. */
export const isApplied = (deployment: KubeObject, live: Deployment | undefined): boolean =>
  live !== undefined && holds(deployment, live)

/** Brings all objects of a workspace to what they should be; the Deployment comes last and says that the rest is done. */
export async function applyAll(work: Work): Promise<{ deployment: Deployment; changed: string[] }> {
  const { kube, workspace, pieces, manifests, mayHaveBook, deployment, known, manager } = work
  const changed: string[] = []
  const hasAll = known !== undefined && haveSamePieces(deployment, known)
  try {
    for (const piece of hasAll ? [] : pieces)
      if (await applyPiece(work, piece)) changed.push(`${piece.kind.kind} ${piece.object.metadata.name}`)
    const live = await own(kube, workspace, Deployments, deployment)
    if (!hasAll && ((live && mayHaveBook) || manifests.length > 0)) changed.push(...(await applyManifests(work)))
    const isSame = live !== undefined && holds(deployment, live)
    if (!isSame) changed.push(`Deployment ${deployment.metadata.name}`)
    const now = isSame ? live : await kube.apply(Deployments, deployment, { manager, force: true })
    // What was never there before has left nothing behind.
    if (live && !hasAll) changed.push(...(await prune(work)))
    return { deployment: now, changed }
  } catch (thrown) {
    throw asApplyFailure(thrown)
  }
}

/** Not among them: the volume, which is wanted always, and what others make for the workspace and end themselves. */
const PRUNED: readonly Kind[] = [Services, NetworkPolicies, ConfigMaps, Secrets, ResourceQuotas, Deployments]

/** Of one kind at once. No plan has so many; a tenant's server may say that there are any number. */
const MOST_PRUNED = 100

/** Deletes what an earlier plan wanted and this one does not. */
async function prune({ kube, workspace, pieces, deployment, book, kept }: Work): Promise<string[]> {
  const { namespace } = deployment.metadata
  const wanted = new Set([...pieces.map(({ object }) => object), deployment, book, ...kept].map(keyOfObject))
  const selector = `${labels.workspaceUid}=${workspace.metadata.uid}`
  const lists = PRUNED.map(async (kind) => {
    const live = await kube.list(kind, { namespace, labels: selector, metadataOnly: true })
    return live
      .filter((each) => !isDeleting(each) && !wanted.has(`${kind.kind} ${each.metadata.name}`))
      .slice(0, MOST_PRUNED)
      .map((each) => ({ kind, each }))
  })
  const leftOver = (await Promise.all(lists)).flat()
  for (const { kind, each } of leftOver)
    await kube.delete(kind, refOf(each), { uid: each.metadata.uid, propagation: 'Background' })
  return leftOver.map(({ kind, each }) => `${kind.kind} ${each.metadata.name} (deleted)`)
}

const keyOfObject = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`

async function applyPiece({ kube, workspace, manager }: Work, piece: Piece): Promise<boolean> {
  const live = await own(kube, workspace, piece.kind, piece.object)
  const object = piece.kind === PersistentVolumeClaims ? fitted(piece.object, live) : piece.object
  if (live && holds(object, live)) return false
  await kube.apply(piece.kind, object, { manager, force: true })
  return true
}

/** A volume can grow, never shrink; its other fields are fixed. */
function fitted(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  const is = sizeOf(live)
  const size = sizeOf(wanted)
  if (is === undefined || size === undefined || quantity(size) > quantity(is)) return wanted
  return {
    ...wanted,
    ...('spec' in wanted && isRecord(wanted.spec) && { spec: { ...wanted.spec, resources: { requests: { storage: is } } } }),
  }
}

function sizeOf(claim: KubeObject | undefined): string | undefined {
  const path = ['spec', 'resources', 'requests', 'storage']
  const size = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), claim)
  return size === undefined ? undefined : String(size)
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Whatever the reason, the user should read that it happened in the target. */
export function asApplyFailure(thrown: unknown): Failure {
  const failure = Failure.from(thrown)
  if (isApplyFailure(failure) || failure.code === 'cancelled') return failure
  return new Failure(failure.code === 'internal' ? 'unavailable' : failure.code, `the target refused: ${failure.message}`, {
    reason: FAILED,
    remedy:
      failure.remedy ?? "Check the rights of the target's credentials, and the devfile against the target's policies and quotas.",
    cause: failure,
    ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
  })
}
