import type { Kube } from '../../adapters/kube/index.ts'
import {
  ConfigMaps,
  type CoreSecret,
  type Deployment,
  Deployments,
  isDeleting,
  isTrue,
  type Kind,
  type KubeObject,
  NetworkPolicies,
  nameOf,
  PersistentVolumeClaims,
  ResourceQuotas,
  refOf,
  Secrets,
  Services,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../api/index.ts'
import { holds, type OwnedObjects, type Piece, removePiece } from '../../engines/apply/index.ts'
import { hours, isRecord, quantity } from '../../std/index.ts'
import { asApplyFailure } from './apply-failure.ts'
import { takeVolume } from './care/pool/volume.ts'
import {
  bookFrameOf,
  type DesiredObjects,
  desiredObjects,
  type FrozenVariables,
  haveSamePieces,
  PLAN_DIGEST,
  type Plan,
  variablesFrameOf,
} from './desired/index.ts'
import type { Heir } from './inheritance.ts'
import { applyManifests } from './manifests.ts'
import { MANAGER, objectsOf } from './owned.ts'
import type { Applied, Room } from './room.ts'
import { BY_WORKSPACE } from './sight.ts'
import { isIn, type Sighting, throughSighting } from './survey.ts'
import type { Connection } from './target-watch.ts'
import { freeze, markOf, refreshOf, rememberedVariables } from './variables.ts'

/** Everything of a workspace is compared with its target this often, also what is not watched. */
export const FULL = hours(1)

/** What a plan is made from before it is known what was frozen. */
type Draft = Omit<Plan, 'variables' | 'variablesMark' | 'pullSecrets'>

/** Brings the objects of a workspace about. The Deployment says whether that was done; the rest is looked at now and then. */
export async function applied(wish: Draft, generation: number | undefined, connection: Connection, room: Room): Promise<Applied> {
  const { workspace, settings } = wish
  const draft = { ...wish, pullSecrets: pullSecretsFor(settings, room) }
  const uid = workspace.metadata.uid ?? ''
  const fresh = isCompared(uid, generation, room)
  const remembered = rememberedVariables(workspace)
  const kept = remembered && withVariables(draft, remembered)
  const before = fresh && kept ? desiredObjects(kept) : undefined
  const live = before && connection.deployments.get(refOf(before.deployment))
  const holdsBeside = before?.pieces.every((piece) => isSeen(piece, connection)) ?? false
  if (kept && live && holdsBeside && holds(before.deployment, live)) return { deployment: live, plan: kept }
  const known = before && live && holdsBeside && haveSamePieces(before.deployment, live) ? live : undefined
  const sighting = known ? undefined : connection.survey.take(uid)
  try {
    return await compare({ draft, generation, known, remembered, sighting }, connection, room)
  } finally {
    sighting?.forget()
  }
}

/** Whether all of it was compared with its target not long ago, under the class as it is. */
export function isCompared(uid: string, generation: number | undefined, { compared, workshop }: Room): boolean {
  const last = compared.get(uid)
  return last !== undefined && workshop.clock.now() - last.at < FULL && last.generation === generation
}

/** Of what is beside the Deployment, only its like are watched; of the rest it is enough that it was made from the same plan. */
function isSeen({ kind, object }: Piece, { deployments }: Connection): boolean {
  const live = kind === Deployments ? deployments.get(refOf(object)) : undefined
  return kind !== Deployments || (live !== undefined && holds(object, live))
}

interface Comparison {
  draft: Draft
  generation: number | undefined
  /** Its Deployment, which was compared not long ago and needs little. */
  known: Deployment | undefined
  remembered: FrozenVariables | undefined
  sighting: Sighting | undefined
}

async function compare(
  { draft, generation, known, remembered, sighting }: Comparison,
  connection: Connection,
  room: Room,
): Promise<Applied> {
  const { workspace } = draft
  const uid = workspace.metadata.uid ?? ''
  const deployments = connection.deployments.by(BY_WORKSPACE, uid)
  const kube = sighting ? throughSighting(connection.kube, { uid, sighting, deployments }) : connection.kube
  if (!known && draft.volume) await takeVolume(kube, workspace, draft.volume, draft.namespace)
  const variables = known && remembered ? remembered : await frozenFor(draft, kube, room)
  const plan = withVariables(draft, variables)
  const mayHaveBook = !sighting || isIn(sighting, ConfigMaps, bookFrameOf(plan))
  const desired = desiredObjects(plan)
  const was = connection.deployments.get(refOf(desired.deployment))
  const { deployment, changed } = await applyAll(plan, desired, { kube, known, mayHaveBook })
  room.compared.set(uid, { at: room.workshop.clock.now(), generation })
  tellChanged(plan, { was, deployment: desired.deployment, changed }, room)
  return { deployment, plan }
}

interface Seen {
  /** The target. */
  kube: Kube
  /** The Deployment as it was seen last, if everything beside it was compared not long ago. */
  known: Deployment | undefined
  /** False where it is known that there is no list of the devfile's objects. */
  mayHaveBook: boolean
}

/** Brings all objects of a workspace to what they should be; the Deployment comes last and says that the rest is done. */
async function applyAll(plan: Plan, desired: DesiredObjects, { kube, known, mayHaveBook }: Seen) {
  const { workspace } = plan
  const { pieces, manifests, deployment } = desired
  const objects = objectsOf(workspace, kube)
  const changed: string[] = []
  const hasAll = known !== undefined && haveSamePieces(deployment, known)
  try {
    for (const piece of hasAll ? [] : pieces) if (await objects.apply(piece, fitted)) changed.push(sayPiece(piece))
    const live = await objects.find(Deployments, deployment)
    if (!hasAll && ((live && mayHaveBook) || manifests.length > 0))
      changed.push(...(await applyManifests({ kube, workspace, manifests, book: bookFrameOf(plan) })))
    const isSame = live !== undefined && holds(deployment, live)
    if (!isSame) changed.push(sayPiece({ kind: Deployments, object: deployment }))
    const now = isSame ? live : await kube.apply(Deployments, deployment, { manager: MANAGER, force: true })
    // What was never there before has left nothing behind.
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
  plan: Plan,
  { pieces, deployment }: DesiredObjects,
  { kube, objects }: { kube: Kube; objects: OwnedObjects },
): Promise<string[]> {
  const beside = [
    { kind: Deployments, object: deployment },
    { kind: ConfigMaps, object: bookFrameOf(plan) },
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
  if (wanted.kind !== PersistentVolumeClaims.kind) return wanted
  const is = sizeOf(live)
  const size = sizeOf(wanted)
  if (is === undefined || size === undefined || quantity(size) > quantity(is)) return wanted
  return {
    ...wanted,
    ...('spec' in wanted && isRecord(wanted.spec) && { spec: { ...wanted.spec, resources: { requests: { storage: is } } } }),
  }
}

function sizeOf(claim: KubeObject): string | undefined {
  const path = ['spec', 'resources', 'requests', 'storage']
  const size = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), claim)
  return size === undefined ? undefined : String(size)
}

interface Change {
  /** The Deployment before. */
  was: Deployment | undefined
  /** As it is wanted. */
  deployment: Deployment
  changed: readonly string[]
}

/** What was made by this very plan before and is not so any more, somebody else has changed: an Event says what was repaired. */
function tellChanged(
  { workspace, namespace }: Plan,
  { was, deployment, changed }: Change,
  { workshop: { log, events } }: Room,
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

const withVariables = (draft: Draft, variables: FrozenVariables): Plan => ({
  ...draft,
  variables,
  variablesMark: markOf(draft.workspace),
})

/** What else makes a plan another one, beside the workspace's and its class's generation. */
export const marksOf = ({ workspace, settings }: Draft, room: Room): string[] => [
  refreshOf(workspace),
  ...pullSecretsFor(settings, room).map(({ metadata }) => `${metadata.uid}/${metadata.resourceVersion}`),
]

/** One that is missing is left out, and comes along when it is there. */
const pullSecretsFor = ({ imagePullSecrets = [] }: WorkspaceClassSpec, room: Room): CoreSecret[] =>
  imagePullSecrets.flatMap((ref) => room.pullSecret(ref) ?? [])

async function frozenFor(draft: Draft, target: Kube, room: Room): Promise<FrozenVariables> {
  const { workspace } = draft
  const { clock, kube: home } = room.workshop
  const frame = variablesFrameOf({ ...draft, variablesMark: markOf(workspace) })
  try {
    return await freeze({ workspace, frame, target, home, heir: heirOf(workspace, room), now: clock.now() })
  } catch (thrown) {
    throw asApplyFailure(thrown)
  }
}

function heirOf({ metadata, spec }: Workspace, room: Room): Heir {
  const name = spec.project?.gitProject
  const project = name && { name, path: room.project({ name, namespace: metadata.namespace })?.spec.path }
  return { owner: spec.owner, project: project || undefined }
}
