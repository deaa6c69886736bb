import type { Kube } from '../../adapters/kube/index.ts'
import {
  ConfigMaps,
  type CoreSecret,
  type Deployment,
  Deployments,
  refOf,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../api/index.ts'
import { hours } from '../../std/index.ts'
import { applyAll, asApplyFailure, isApplied } from './apply.ts'
import { takeVolume } from './care/pool/volume.ts'
import {
  bookFrameOf,
  desiredObjects,
  type FrozenVariables,
  haveSamePieces,
  type Piece,
  type Plan,
  variablesFrameOf,
} from './desired/index.ts'
import type { Heir } from './inheritance.ts'
import { tellChanged } from './repairs.ts'
import { type Applied, CONTROLLER, type Room } from './room.ts'
import { BY_WORKSPACE } from './sight.ts'
import { isIn, type Sighting, throughSighting } from './survey.ts'
import type { Connection } from './target-watch.ts'
import { freeze, markOf, refreshOf, rememberedVariables } from './variables.ts'

/** Everything of a workspace is compared with its target this often, also what is not watched. */
export const FULL = hours(1)
export const MANAGER = `berth-${CONTROLLER}`

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
  if (kept && live && before && holdsBeside && isApplied(before.deployment, live)) return { deployment: live, plan: kept }
  const known = before && live && holdsBeside && haveSamePieces(before.deployment, live) ? live : undefined
  const sighting = known ? undefined : connection.survey.take(uid)
  try {
    return await compare({ draft, generation, known, remembered, sighting }, connection, room)
  } finally {
    sighting?.forget()
  }
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
  const book = bookFrameOf(plan)
  const mayHaveBook = !sighting || isIn(sighting, ConfigMaps, book)
  const beside = { known, kept: [variablesFrameOf(plan)], book, mayHaveBook, manager: MANAGER }
  const desired = desiredObjects(plan)
  const was = connection.deployments.get(refOf(desired.deployment))
  const result = await applyAll({ kube, workspace, ...desired, ...beside })
  room.compared.set(uid, { at: room.workshop.clock.now(), generation })
  tellChanged(plan, { was, deployment: desired.deployment, changed: result.changed }, room)
  return { deployment: result.deployment, plan }
}

/** Whether all of it was compared with its target not long ago, under the class as it is. */
export function isCompared(uid: string, generation: number | undefined, { compared, workshop }: Room): boolean {
  const last = compared.get(uid)
  return last !== undefined && workshop.clock.now() - last.at < FULL && last.generation === generation
}

/** Of what is beside the Deployment, only its like are watched; of the rest it is enough that it was made from the same plan. */
const isSeen = ({ kind, object }: Piece, { deployments }: Connection): boolean =>
  kind !== Deployments || isApplied(object, deployments.get(refOf(object)))

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
    return await freeze({ workspace, frame, target, home, heir: heirOf(workspace, room), now: clock.now(), manager: MANAGER })
  } catch (thrown) {
    throw asApplyFailure(thrown)
  }
}

function heirOf({ metadata, spec }: Workspace, room: Room): Heir {
  const name = spec.project?.gitProject
  const project = name && { name, path: room.project({ name, namespace: metadata.namespace })?.spec.path }
  return { owner: spec.owner, project: project || undefined }
}
