import type { Kube } from '../../../adapters/kube/index.ts'
import {
  ConfigMaps,
  type CoreSecret,
  type Deployment,
  Deployments,
  type GitProject,
  isDeleting,
  isTrue,
  type Kind,
  type KubeObject,
  NetworkPolicies,
  nameOf,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Ref,
  ResourceQuotas,
  refOf,
  Secrets,
  Services,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../../api/index.ts'
import { holds, type OwnedObjects, type Piece, removePiece } from '../../../engines/apply/index.ts'
import type { ControllerContext } from '../../../engines/controller/index.ts'
import { isRecord, quantity } from '../../../std/index.ts'
import {
  AFTER_STOP,
  type DesiredObjects,
  desiredBeside,
  type FrozenVariables,
  haveSamePieces,
  makesPod,
  objectListFrameOf,
  PLAN_DIGEST,
  partOf,
  variablesFrameOf,
  type WorkspacePlan,
} from '../desired/index.ts'
import { objectNameOf } from '../desired/names.ts'
import { takeVolume } from '../pool/volume.ts'
import type { TargetConnection } from '../watch/connections.ts'
import { isIn, throughList } from '../watch/survey.ts'
import { BY_WORKSPACE } from '../watch/view.ts'
import { asApplyFailure } from './apply-failure.ts'
import type { Comparisons } from './comparisons.ts'
import type { Heir } from './inheritance.ts'
import { applyManifests } from './manifests.ts'
import { MANAGER, objectsOf } from './owned.ts'
import { freeze, markOf, refreshOf, rememberedVariables } from './variables.ts'

/** Credentials for image registries, in their newer and their older form. */
export const OF_REGISTRIES = [{ fields: 'type=kubernetes.io/dockerconfigjson' }, { fields: 'type=kubernetes.io/dockercfg' }]

export interface ApplyServices {
  context: ControllerContext
  project(ref: Ref): GitProject | undefined
  /** Credentials for image registries, wherever the operator sees them. */
  pullSecret(ref: Ref): CoreSecret | undefined
  comparisons: Comparisons
}

export interface Applied {
  deployment: Deployment
  /** They were made from it. */
  plan: WorkspacePlan
}

/** A plan before it is known which variables were frozen. */
export type PlanDraft = Omit<WorkspacePlan, 'variables' | 'variablesMark' | 'pullSecrets'>

/** Brings the objects of a workspace about. The Deployment says whether that was done; the rest is looked at now and then. */
export async function applyWorkspace(
  wish: PlanDraft,
  generation: number | undefined,
  connection: TargetConnection,
  services: ApplyServices,
): Promise<Applied> {
  const { workspace, settings } = wish
  const draft = { ...wish, pullSecrets: pullSecretsFor(settings, services) }
  const uid = workspace.metadata.uid ?? ''
  const fresh = services.comparisons.isRecent(uid, generation, workspace.status?.actualState)
  const remembered = rememberedVariables(workspace)
  const kept = remembered && withVariables(draft, remembered)
  const live = connection.deployments.get({ name: objectNameOf(workspace), namespace: draft.namespace })
  const before = fresh && kept ? desiredBeside(kept, live) : undefined
  const holdsBeside = before?.pieces.every((piece) => isSeen(piece, connection)) ?? false
  if (kept && live && before && holdsBeside && holds(before.deployment, live)) return { deployment: live, plan: kept }
  // A start is the time to find whatever is amiss, also what is not watched.
  const isEnough = live && before && holdsBeside && haveSamePieces(before.deployment, live) && !makesPod(before.deployment, live)
  const compared = isEnough ? before : undefined
  const done = compared ? undefined : services.comparisons.begin(uid, generation)
  const listed = compared ? undefined : connection.survey.take(uid)
  try {
    const deployments = connection.deployments.by(BY_WORKSPACE, uid)
    const kube = listed ? throughList(connection.kube, { uid, listed, deployments }) : connection.kube
    if (!compared && draft.volume) await takeVolume(kube, workspace, draft.volume, draft.namespace)
    const plan = compared && kept ? kept : withVariables(draft, await frozenFor(draft, kube, services))
    const mayHaveObjectList = !listed || isIn(listed, ConfigMaps, objectListFrameOf(plan))
    const desired = compared ?? desiredBeside(plan, live)
    const { deployment, changed } = await applyAll(plan, desired, { kube, hasAll: compared !== undefined, mayHaveObjectList })
    done?.()
    tellChanged(plan, { was: live, deployment: desired.deployment, changed }, services)
    return { deployment, plan }
  } finally {
    listed?.forget()
  }
}

/** True where it was stopped and its pods are still there: whoever starts it now waits for their end. */
export function endsStill({ metadata }: Workspace, { deployments, pods }: TargetConnection, namespace: string): boolean {
  const live = deployments.get({ name: objectNameOf({ metadata }), namespace })
  const own = pods.by(BY_WORKSPACE, metadata.uid ?? '')
  return live?.spec?.replicas === 0 && own.some((pod) => isDeleting(pod) && partOf(pod) !== AFTER_STOP)
}

/** Of what is beside the Deployment, only its like are watched; of the rest it is enough that it was made from the same plan. */
function isSeen({ kind, object }: Piece, { deployments }: TargetConnection): boolean {
  const live = kind === Deployments ? deployments.get(refOf(object)) : undefined
  return kind !== Deployments || (live !== undefined && holds(object, live))
}

/**
 * Brings all objects of a workspace to what they should be; the Deployment comes last and says that the rest is done. `hasAll`:
 * everything beside it was compared not long ago. `mayHaveObjectList` is false where there is no list of the devfile's objects.
 */
async function applyAll(
  plan: WorkspacePlan,
  desired: DesiredObjects,
  { kube, hasAll, mayHaveObjectList }: { kube: Kube; hasAll: boolean; mayHaveObjectList: boolean },
) {
  const { workspace } = plan
  const { pieces, manifests, deployment } = desired
  const objects = objectsOf(workspace, kube)
  const changed: string[] = []
  try {
    for (const piece of hasAll ? [] : pieces) if (await objects.apply(piece, fitted)) changed.push(sayPiece(piece))
    const live = await objects.find(Deployments, deployment)
    if (!hasAll && ((live && mayHaveObjectList) || manifests.length > 0))
      changed.push(...(await applyManifests({ kube, workspace, manifests, objectList: objectListFrameOf(plan) })))
    const isSame = live !== undefined && holds(deployment, live)
    if (!isSame) changed.push(sayPiece({ kind: Deployments, object: deployment }))
    const now = isSame ? live : await kube.apply(Deployments, deployment, { manager: MANAGER, force: true })
    // A workspace that is new here has left nothing behind.
    if (live && !hasAll) changed.push(...(await prune(plan, desired, { kube, objects })))
    return { deployment: now, changed }
  } catch (thrown) {
    throw asApplyFailure(thrown)
  }
}

const sayPiece = ({ kind, object }: Piece): string => `${kind.kind} ${object.metadata.name}`

/** Not among them: the volume, which is wanted always, and what others make for the workspace and end themselves. */
const PRUNED: readonly Kind[] = [Services, NetworkPolicies, ConfigMaps, Secrets, ResourceQuotas, Deployments]

/** Of one kind at once. No plan has so many; a tenant's server may say that there are any number. */
const MOST_PRUNED = 100

/** Deletes what an earlier plan wanted and this one does not. */
async function prune(
  plan: WorkspacePlan,
  { pieces, deployment }: DesiredObjects,
  { kube, objects }: { kube: Kube; objects: OwnedObjects },
): Promise<string[]> {
  const beside = [
    { kind: Deployments, object: deployment },
    { kind: ConfigMaps, object: objectListFrameOf(plan) },
    { kind: Secrets, object: variablesFrameOf(plan) },
  ]
  const wanted = new Set([...pieces, ...beside].map(sayPiece))
  const lists = PRUNED.map(async (kind) => {
    const live = (await objects.list(kind, plan.namespace)).map((object) => ({ kind, object }))
    return live.filter((piece) => !isDeleting(piece.object) && !wanted.has(sayPiece(piece))).slice(0, MOST_PRUNED)
  })
  const leftOver = (await Promise.all(lists)).flat()
  for (const piece of leftOver) await removePiece(kube, piece)
  return leftOver.map((piece) => `${sayPiece(piece)} (deleted)`)
}

/** A volume can grow, never shrink; its other fields are fixed. */
function fitted(wanted: KubeObject, live: KubeObject): KubeObject {
  if (!isVolume(wanted)) return wanted
  const size = storageIn(wanted)
  const is = storageIn(live)
  if (is === undefined || size === undefined || quantity(size) > quantity(is)) return wanted
  const kept: PersistentVolumeClaim = { ...wanted, spec: { ...wanted.spec, resources: { requests: { storage: is } } } }
  return kept
}

const isVolume = (object: KubeObject): object is PersistentVolumeClaim => object.kind === PersistentVolumeClaims.kind

/** An item of a list says no kind, so nothing is known of its fields. */
function storageIn(volume: KubeObject): string | undefined {
  const spec = 'spec' in volume && isRecord(volume.spec) ? volume.spec : {}
  const { requests } = isRecord(spec.resources) ? spec.resources : {}
  return isRecord(requests) && requests.storage !== undefined ? String(requests.storage) : undefined
}

/** Somebody else has changed what this very plan had made before (`was` is the Deployment then): an Event says what was repaired. */
function tellChanged(
  { workspace, namespace }: WorkspacePlan,
  { was, deployment, changed }: { was: Deployment | undefined; deployment: Deployment; changed: readonly string[] },
  { context: { log, events } }: ApplyServices,
): void {
  if (changed.length === 0) return
  log.info('workspace applied', { workspace: nameOf(workspace), changed })
  const digest = deployment.metadata.annotations?.[PLAN_DIGEST]
  const { status, metadata } = workspace
  const wasThere = isTrue(status?.conditions, 'Applied') && status?.observedGeneration === metadata.generation
  if (was ? was.metadata.annotations?.[PLAN_DIGEST] !== digest : !wasThere) return
  const lost = changed.some((name) => name.startsWith(PersistentVolumeClaims.kind))
  const what = `changed or removed in namespace ${namespace} by somebody, and repaired: ${changed.join(', ')}`
  const message = lost ? `${what}. The volume is a new one, and empty` : what
  events.record(workspace, { type: lost ? 'Warning' : 'Normal', reason: 'Repaired', message })
}

const withVariables = (draft: PlanDraft, variables: FrozenVariables): WorkspacePlan => ({
  ...draft,
  variables,
  variablesMark: markOf(draft.workspace),
})

/** Beside the generations of workspace and class, these make a plan another one. */
export const marksOf = ({ workspace, settings }: PlanDraft, services: ApplyServices): string[] => [
  refreshOf(workspace),
  ...pullSecretsFor(settings, services).map(({ metadata }) => `${metadata.uid}/${metadata.resourceVersion}`),
]

/** One that is missing is left out, and comes along when it is there. */
const pullSecretsFor = ({ imagePullSecrets = [] }: WorkspaceClassSpec, services: ApplyServices): CoreSecret[] =>
  imagePullSecrets.flatMap((ref) => services.pullSecret(ref) ?? [])

async function frozenFor(draft: PlanDraft, target: Kube, services: ApplyServices): Promise<FrozenVariables> {
  const { workspace } = draft
  const { clock, kube: home } = services.context
  const frame = variablesFrameOf({ ...draft, variablesMark: markOf(workspace) })
  try {
    return await freeze({ workspace, frame, target, home, heir: heirOf(workspace, services), now: clock.now() })
  } catch (thrown) {
    throw asApplyFailure(thrown)
  }
}

function heirOf({ metadata, spec }: Workspace, services: ApplyServices): Heir {
  const name = spec.project?.gitProject
  const project = name && { name, path: services.project({ name, namespace: metadata.namespace })?.spec.path }
  return { owner: spec.owner, project: project || undefined }
}
