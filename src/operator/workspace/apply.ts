import type { Kube } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type Deployment,
  Deployments,
  type Kind,
  type KubeObject,
  labels,
  PersistentVolumeClaims,
  refOf,
  Secrets,
  Services,
  type Workspace,
} from '../../api/index.ts'
import { Failure, quantity } from '../../std/index.ts'
import type { Piece } from './desired.ts'
import { holds } from './drift.ts'
import { VARIABLE_NOT_FOUND } from './variables.ts'

/** The reasons that mean: the objects could not be applied. */
export const APPLY_REASONS = { failed: 'ApplyFailed', taken: 'ObjectTaken', variable: VARIABLE_NOT_FOUND } as const

export const isApplyFailure = ({ reason }: Failure): boolean => Object.values<string | undefined>(APPLY_REASONS).includes(reason)

export interface Work {
  /** The target. */
  kube: Kube
  workspace: Workspace
  pieces: readonly Piece[]
  deployment: Deployment
  /** What is made once and never changed: where it is, and how it comes to be. */
  frozen?: { frame: KubeObject; make: () => Promise<CoreSecret> } | undefined
  manager: string
}

/** Whether the Deployment was made from this plan and nobody changed it since. */
export const isApplied = (deployment: Deployment, live: Deployment | undefined): boolean =>
  live !== undefined && holds(deployment, live)

/** Brings all objects of a workspace to what they should be; the Deployment comes last and says that the rest is done. */
export async function applyAll(work: Work): Promise<{ deployment: Deployment; changed: string[] }> {
  const { kube, workspace, pieces, deployment, manager } = work
  const changed: string[] = []
  try {
    if (await makeFrozen(work)) changed.push(`Secret ${work.frozen?.frame.metadata.name}`)
    for (const piece of pieces)
      if (await applyPiece(work, piece)) changed.push(`${piece.kind.kind} ${piece.object.metadata.name}`)
    if (!pieces.some(({ kind }) => kind === Services)) await removeOwn(kube, workspace, Services, deployment)
    const live = await own(kube, workspace, Deployments, deployment)
    if (live && holds(deployment, live)) return { deployment: live, changed }
    changed.push(`Deployment ${deployment.metadata.name}`)
    return { deployment: await kube.apply(Deployments, deployment, { manager, force: true }), changed }
  } catch (thrown) {
    throw asApplyFailure(thrown)
  }
}

async function makeFrozen({ kube, workspace, frozen, manager }: Work): Promise<boolean> {
  if (!frozen || (await own(kube, workspace, Secrets, frozen.frame))) return false
  await kube.create(Secrets, await frozen.make(), { manager })
  return true
}

async function applyPiece({ kube, workspace, manager }: Work, piece: Piece): Promise<boolean> {
  const live = await own(kube, workspace, piece.kind, piece.object)
  const object = piece.kind === PersistentVolumeClaims ? fitted(piece.object, live) : piece.object
  if (live && holds(object, live)) return false
  await kube.apply(piece.kind, object, { manager, force: true })
  return true
}

/** The object as it is; a failure when it is there and somebody else's. */
async function own<T extends KubeObject>(
  kube: Kube,
  { metadata }: Workspace,
  kind: Kind<T>,
  object: KubeObject,
): Promise<T | undefined> {
  const live = await kube.get(kind, refOf(object))
  if (!live || live.metadata.labels?.[labels.workspaceUid] === metadata.uid) return live
  throw new Failure(
    'invalid',
    `${kind.kind} ${object.metadata.name} in namespace ${object.metadata.namespace} is there, but not this workspace's`,
    {
      reason: APPLY_REASONS.taken,
      remedy: 'Delete it in the target, or name the workspace otherwise.',
    },
  )
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

async function removeOwn(kube: Kube, workspace: Workspace, kind: Kind, like: KubeObject): Promise<void> {
  const live = await kube.get(kind, refOf(like))
  if (live?.metadata.labels?.[labels.workspaceUid] === workspace.metadata.uid && live) {
    await kube.delete(kind, refOf(like), { uid: live.metadata.uid })
  }
}

/** Whatever the reason, the user should read that it happened in the target. */
function asApplyFailure(thrown: unknown): Failure {
  const failure = Failure.from(thrown)
  if (isApplyFailure(failure) || failure.code === 'cancelled') return failure
  return new Failure(failure.code === 'internal' ? 'unavailable' : failure.code, `the target refused: ${failure.message}`, {
    reason: APPLY_REASONS.failed,
    remedy:
      failure.remedy ?? "Check the rights of the target's credentials, and the devfile against the target's policies and quotas.",
    cause: failure,
    ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
  })
}
