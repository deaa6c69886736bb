import { type Meter, OF_TARGETS, type Reach, secretFinder } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  credentialsKeyOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  type GitProject,
  GitProjects,
  keyOf,
  type Ref,
  refOf,
  Secrets,
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  Workspaces,
} from '../../api/index.ts'
import type { Controller, Watch, Workshop } from '../../engines/controller/index.ts'
import { createTurnstile, createYamlTreeReader, type Failure, LRUCache } from '../../std/index.ts'
import type { Assessment } from './actual-state/index.ts'
import { isApplyFailure } from './apply-failure.ts'
import { BY_POOL, sparesBy } from './care/pool/spare.ts'
import { claimNameOf, ownersOf } from './claim.ts'
import { classNameOf, counts } from './class.ts'
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

/** Names of indexes are shared with whoever else reads the kind; so these are the workspaces' own. */
const BY_SECRET = 'workspaces by secret'
const BY_TARGET = 'workspaces by target'
const BY_OWNER = 'workspaces by owner'

const indexes = {
  uid: ({ metadata }: Workspace) => [metadata.uid ?? ''],
  class: (workspace: Workspace) => [classNameOf(workspace)],
  claim: (workspace: Workspace) => [`${workspace.metadata.namespace}/${claimNameOf(workspace)}`],
  /** The Secrets of the settings that it was created with. */
  pullSecret: ({ status }: Workspace) => (status?.class?.settings?.imagePullSecrets ?? []).map(keyOf),
  project: ({ metadata, spec }: Workspace) => (spec.project ? [`${metadata.namespace}/${spec.project.gitProject}`] : []),
}

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
  const room = roomOf(workshop, settings)
  return {
    name: CONTROLLER,
    kind: Workspaces,
    watches: watchesOf(workshop, room),
    reconcile: async (workspace) => tellChanges(workshop.events, workspace, await reconcileWorkspace(workspace, room)),
    failed: (workspace, failure) => statusAfter(workspace, failure, standingAfter(workspace, failure, room)),
    doorbell(ring, signal) {
      room.wake = ring
      room.targets.begin(ring, signal)
    },
  }
}

/** What still runs where its objects were refused. */
const standingAfter = (workspace: Workspace, failure: Failure, room: Room): Assessment | undefined =>
  isApplyFailure(failure) ? standing(workspace, workspace.status?.class?.settings, room)?.assessment : undefined

function roomOf(workshop: Workshop, { reach, own, meter, git = {}, tunnels, devfiles }: WorkspaceSettings): Room {
  const { caches, clock, log } = workshop
  const claims = caches.of(DeploymentTargetClaims, { indexes: { [BY_OWNER]: ownersOf, [BY_POOL]: sparesBy } })
  const targets = caches.of(DeploymentTargets)
  const projects = caches.of(GitProjects)
  const targetClasses = caches.of(DeploymentTargetClasses)
  const pullSecret = secretFinder(caches, OF_REGISTRIES)
  const all = caches.of(Workspaces, { indexes })
  return {
    workshop,
    workspaces: all,
    classes: caches.of(WorkspaceClasses),
    claim: (ref) => claims.get(ref),
    target: (ref) => targets.get(ref),
    targetClass: (name) => targetClasses.get({ name }),
    secret: secretFinder(caches, OF_TARGETS),
    ownClaim: ({ metadata, ...workspace }) =>
      claims.by(BY_OWNER, metadata.uid ?? '').find((claim) => claim.metadata.namespace === metadata.namespace) ??
      claims.get({ name: objectNameOf({ metadata, ...workspace }), namespace: metadata.namespace }),
    spares: (uid, namespace) => claims.by(BY_POOL, uid).filter(({ metadata }) => metadata.namespace === namespace),
    targets: createTargetWatch({
      clock,
      log,
      own: own && { kube: workshop.kube, memory: workshop.caches.memory, urls: own },
      reach,
      meter,
      workspace: (uid) => all.by('uid', uid)[0],
    }),
    compared: new Map(),
    removals: new Map(),
    gates: createTurnstile({ each: 1 }),
    searched: new LRUCache({ max: 1000 }),
    errands: createErrands(clock),
    readings: createErrands(clock),
    wake: () => undefined,
    pullSecret(ref) {
      const secret = pullSecret(ref)
      return secret?.leftOut === undefined ? secret : undefined
    },
    project: (ref) => projects.get(ref),
    git,
    tunnels,
    devfiles,
    parser: createDevfileParser(createYamlTreeReader()),
    judged: new WeakMap(),
  }
}

function watchesOf({ caches }: Workshop, room: Room): Watch[] {
  const targets = caches.of(DeploymentTargets, { indexes: { [BY_SECRET]: (target) => [credentialsKeyOf(target)] } })
  const claims = caches.of(DeploymentTargetClaims, { indexes: { [BY_TARGET]: ofTarget } })
  const ofClaim = (claim: DeploymentTargetClaim): Ref[] => [
    ...room.workspaces.by('claim', keyOf(refOf(claim))).map(refOf),
    // One of a warm pool has another name than the workspace gives its own.
    ...ownersOf(claim).flatMap((uid) => room.workspaces.by('uid', uid).map(refOf)),
  ]
  const byTarget = ({ metadata }: DeploymentTarget): Ref[] =>
    claims.by(BY_TARGET, `${metadata.namespace}/${metadata.name}`).flatMap(ofClaim)
  const seen = new Map<string, string>()
  const ofClass = ({ metadata: { name } }: WorkspaceClass): Ref[] => {
    const now = room.classes.get({ name })
    const version = now ? `${now.metadata.uid} ${now.metadata.generation}` : ''
    // An admission changes the class, too, and concerns nobody else.
    if (version === seen.get(name)) return []
    seen.set(name, version)
    return room.workspaces.by('class', name).map(refOf)
  }
  return [
    { kind: WorkspaceClasses, wakes: ofClass },
    // A workspace that ends leaves a place in its class's quota.
    { kind: Workspaces, wakes: (workspace: Workspace) => (counts(workspace) ? [] : waitingFor(room, classNameOf(workspace))) },
    { kind: DeploymentTargetClaims, wakes: ofClaim },
    { kind: DeploymentTargets, wakes: byTarget },
    {
      kind: GitProjects,
      wakes: ({ metadata }: GitProject) => room.workspaces.by('project', `${metadata.namespace}/${metadata.name}`).map(refOf),
    },
    ...OF_REGISTRIES.map((options) => ({
      kind: Secrets,
      ...options,
      wakes: (secret: CoreSecret) => room.workspaces.by('pullSecret', keyOf(refOf(secret))).map(refOf),
    })),
    ...OF_TARGETS.map((options) => ({
      kind: Secrets,
      ...options,
      wakes: (secret: CoreSecret) => targets.by(BY_SECRET, keyOf(refOf(secret))).flatMap(byTarget),
    })),
  ]
}

/** Whom a place in the class is for. */
const waitingFor = (room: Room, name: string): Ref[] =>
  room.workspaces
    .by('class', name)
    .filter((workspace) => !hasPlace(workspace))
    .map(refOf)

const ofTarget = ({ metadata, spec, status }: DeploymentTargetClaim): string[] => [
  `${metadata.namespace}/${status?.target?.name ?? spec.targetName ?? ''}`,
]
