import { type Meter, type Reach, secretFinder, secretWatches } from '../../adapters/kube/index.ts'
import {
  byTarget,
  byUid,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  type GitProject,
  GitProjects,
  indexBy,
  keyOf,
  keysBeside,
  type Ref,
  refOf,
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  Workspaces,
} from '../../api/index.ts'
import { type Controller, createWakeups, type Wakeups, type Watch, type Workshop } from '../../engines/controller/index.ts'
import { createKubeconfigCheck, credentialsFinder, watchCredentials } from '../../engines/targets/index.ts'
import { createTurnstile, createYamlTreeReader, type Failure, LRUCache } from '../../std/index.ts'
import type { Assessment } from './actual-state/index.ts'
import { isApplyFailure } from './apply-failure.ts'
import { byPool } from './care/pool/spare.ts'
import { claimNameOf, ownersOf } from './claim.ts'
import { byClass, classNameOf, counts } from './class.ts'
import type { TunnelSettings } from './desired/index.ts'
import { createDevfileParser } from './devfile.ts'
import type { DevfileSource } from './devfile-source.ts'
import { createErrands } from './errands.ts'
import { tellChanges } from './events.ts'
import type { GitSettings } from './git/index.ts'
import { objectNameOf } from './names.ts'
import { hasPlace } from './quota.ts'
import { reconcileWorkspace } from './reconcile.ts'
import { OF_REGISTRIES } from './registry-secrets.ts'
import { CONTROLLER, type Room } from './room.ts'
import { standing } from './standing.ts'
import { statusAfter } from './status.ts'
import { createTargetWatch } from './target-watch.ts'

const byClaimed = indexBy((workspace: Workspace) => keysBeside(workspace, claimNameOf(workspace)))
/** By the Secrets of the settings that a workspace was created with. */
const byPullSecret = indexBy(({ status }: Workspace) => (status?.class?.settings?.imagePullSecrets ?? []).map(keyOf))
const byProject = indexBy((workspace: Workspace) => keysBeside(workspace, workspace.spec.project?.gitProject))
/** Of claims: by the workspaces that own them. */
const byOwner = indexBy(ownersOf)

export interface WorkspaceSettings {
  /** Where targets may lead; everywhere without it. */
  reach?: Reach
  /** URLs of the own API: targets there are seen by one watch per kind. Without any each target is watched for itself. */
  own?: readonly string[] | undefined
  /** Counts requests to targets. */
  meter?: Meter | undefined
  /** The way from workspaces to Git. */
  git?: GitSettings
  /** The way into workspaces whose class has tunnels. */
  tunnels?: TunnelSettings | undefined
  /** From where devfiles of projects and their parents are read. */
  devfiles?: DevfileSource | undefined
}

/** Brings workspaces to what they should be, in the targets that they claim. */
export function workspaces(workshop: Workshop, settings: WorkspaceSettings = {}): Controller<Workspace> {
  const wakeups = createWakeups()
  const room = roomOf(workshop, wakeups, settings)
  return {
    name: CONTROLLER,
    kind: Workspaces,
    watches: watchesOf(workshop, room),
    reconcile: async (workspace) => tellChanges(workshop.events, workspace, await reconcileWorkspace(workspace, room)),
    failed: (workspace, failure) => statusAfter(workspace, failure, standingAfter(workspace, failure, room)),
    wakeups,
  }
}

/** What still runs where its objects were refused. */
const standingAfter = (workspace: Workspace, failure: Failure, room: Room): Assessment | undefined =>
  isApplyFailure(failure) ? standing(workspace, workspace.status?.class?.settings, room)?.assessment : undefined

function roomOf(
  workshop: Workshop,
  wakeups: Wakeups,
  { reach, own, meter, git = {}, tunnels, devfiles }: WorkspaceSettings,
): Room {
  const { caches, clock, log } = workshop
  const claims = caches.of(DeploymentTargetClaims)
  const targets = caches.of(DeploymentTargets)
  const projects = caches.of(GitProjects)
  const targetClasses = caches.of(DeploymentTargetClasses)
  const pullSecret = secretFinder(caches, OF_REGISTRIES)
  const all = caches.of(Workspaces)
  return {
    workshop,
    workspaces: all,
    classes: caches.of(WorkspaceClasses),
    claim: (ref) => claims.get(ref),
    target: (ref) => targets.get(ref),
    targetClass: (name) => targetClasses.get({ name }),
    secret: credentialsFinder(caches),
    ownClaim: ({ metadata, ...workspace }) =>
      claims.by(byOwner, metadata.uid ?? '').find((claim) => claim.metadata.namespace === metadata.namespace) ??
      claims.get({ name: objectNameOf({ metadata, ...workspace }), namespace: metadata.namespace }),
    spares: (uid, namespace) => claims.by(byPool, uid).filter(({ metadata }) => metadata.namespace === namespace),
    targets: createTargetWatch({
      clock,
      log,
      wakeups,
      own: own && { kube: workshop.kube, memory: workshop.caches.memory, urls: own },
      reach,
      meter,
      workspace: (uid) => all.by(byUid, uid)[0],
    }),
    compared: new Map(),
    removals: new Map(),
    gates: createTurnstile({ each: 1 }),
    searched: new LRUCache({ max: 1000 }),
    errands: createErrands(clock),
    readings: createErrands(clock),
    wake: wakeups.wake,
    pullSecret(ref) {
      const secret = pullSecret(ref)
      return secret?.leftOut === undefined ? secret : undefined
    },
    project: (ref) => projects.get(ref),
    git,
    tunnels,
    devfiles,
    parser: createDevfileParser(createYamlTreeReader()),
    check: createKubeconfigCheck(),
  }
}

function watchesOf({ caches }: Workshop, room: Room): Watch[] {
  const claims = caches.of(DeploymentTargetClaims)
  const ofClaim = (claim: DeploymentTargetClaim): Ref[] => [
    ...room.workspaces.by(byClaimed, keyOf(refOf(claim))).map(refOf),
    // One of a warm pool has another name than the workspace gives its own.
    ...ownersOf(claim).flatMap((uid) => room.workspaces.by(byUid, uid).map(refOf)),
  ]
  const ofTarget = ({ metadata }: DeploymentTarget): Ref[] =>
    claims.by(byTarget, `${metadata.namespace}/${metadata.name}`).flatMap(ofClaim)
  const seen = new Map<string, string>()
  const ofClass = ({ metadata: { name } }: WorkspaceClass): Ref[] => {
    const now = room.classes.get({ name })
    const version = now ? `${now.metadata.uid} ${now.metadata.generation}` : ''
    // An admission changes the class, too, and concerns nobody else.
    if (version === seen.get(name)) return []
    seen.set(name, version)
    return room.workspaces.by(byClass, name).map(refOf)
  }
  return [
    { kind: WorkspaceClasses, wakes: ofClass },
    // A workspace that ends leaves a place in its class's quota.
    { kind: Workspaces, wakes: (workspace: Workspace) => (counts(workspace) ? [] : waitingFor(room, classNameOf(workspace))) },
    { kind: DeploymentTargetClaims, wakes: ofClaim },
    { kind: DeploymentTargets, wakes: ofTarget },
    {
      kind: GitProjects,
      wakes: ({ metadata }: GitProject) => room.workspaces.by(byProject, `${metadata.namespace}/${metadata.name}`).map(refOf),
    },
    ...secretWatches(OF_REGISTRIES, (secret) => room.workspaces.by(byPullSecret, keyOf(refOf(secret))).map(refOf)),
    ...watchCredentials(caches, ofTarget),
  ]
}

/** Whom a place in the class is for. */
const waitingFor = (room: Room, name: string): Ref[] =>
  room.workspaces
    .by(byClass, name)
    .filter((workspace) => !hasPlace(workspace))
    .map(refOf)
