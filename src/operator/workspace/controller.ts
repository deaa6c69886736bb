import type { Reach } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  type GitProject,
  GitProjects,
  keyOf,
  type Ref,
  refOf,
  Secrets,
  secretTypes,
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  Workspaces,
} from '../../api/index.ts'
import type { Controller, Watch, Workshop } from '../../engines/controller/index.ts'
import { claimNameOf } from './claim.ts'
import { classNameOf, counts } from './class.ts'
import type { DevfileSource } from './devfile-source.ts'
import { createErrands } from './errands.ts'
import { tellChanges } from './events.ts'
import { createGates } from './gates.ts'
import type { GitSettings } from './git/index.ts'
import { objectNameOf } from './names.ts'
import { hasPlace } from './quota.ts'
import { reconcileWorkspace } from './reconcile.ts'
import { CONTROLLER, type Room } from './room.ts'
import { statusAfter } from './status.ts'
import { createTargetWatch } from './target-watch.ts'

const SECRET_TYPES = Object.values(secretTypes)
/** Credentials for image registries, in their newer and their older form. */
const PULL_TYPES = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg']

/** Names of indexes are shared with whoever else reads the kind; so these are the workspaces' own. */
const BY_SECRET = 'workspaces by secret'
const BY_TARGET = 'workspaces by target'

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
  /** The way from workspaces to Git. */
  git?: GitSettings
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
    failed: statusAfter,
    doorbell(ring, signal) {
      room.wake = ring
      room.targets.begin(ring, signal)
    },
  }
}

function roomOf(workshop: Workshop, { reach, git = {}, devfiles }: WorkspaceSettings): Room {
  const { caches, clock, log } = workshop
  const claims = caches.of(DeploymentTargetClaims)
  const targets = caches.of(DeploymentTargets)
  const projects = caches.of(GitProjects)
  const ofType = (type: string) => caches.of(Secrets, { fields: `type=${type}` })
  const secrets = SECRET_TYPES.map(ofType)
  const pullSecrets = PULL_TYPES.map(ofType)
  return {
    workshop,
    workspaces: caches.of(Workspaces, { indexes }),
    classes: caches.of(WorkspaceClasses),
    claim: (ref) => claims.get(ref),
    target: (ref) => targets.get(ref),
    secret: (ref) => secrets.map((cache) => cache.get(ref)).find((secret) => secret !== undefined),
    ownClaim: (workspace) => claims.get({ name: objectNameOf(workspace), namespace: workspace.metadata.namespace }),
    targets: createTargetWatch({ clock, log, reach }),
    compared: new Map(),
    removals: new Map(),
    gates: createGates(),
    searched: new Map(),
    errands: createErrands(clock),
    wake: () => undefined,
    pullSecret: (ref) => pullSecrets.map((cache) => cache.get(ref)).find((secret) => secret !== undefined),
    project: (ref) => projects.get(ref),
    git,
    devfiles,
  }
}

function watchesOf({ caches }: Workshop, room: Room): Watch[] {
  const targets = caches.of(DeploymentTargets, { indexes: { [BY_SECRET]: ofSecret } })
  const claims = caches.of(DeploymentTargetClaims, { indexes: { [BY_TARGET]: ofTarget } })
  const ofClaim = ({ namespace, name }: Ref): Ref[] => room.workspaces.by('claim', `${namespace}/${name}`).map(refOf)
  const byTarget = ({ metadata }: DeploymentTarget): Ref[] =>
    claims.by(BY_TARGET, `${metadata.namespace}/${metadata.name}`).flatMap((claim) => ofClaim(refOf(claim)))
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
    { kind: DeploymentTargetClaims, wakes: (claim: DeploymentTargetClaim) => ofClaim(refOf(claim)) },
    { kind: DeploymentTargets, wakes: byTarget },
    {
      kind: GitProjects,
      wakes: ({ metadata }: GitProject) => room.workspaces.by('project', `${metadata.namespace}/${metadata.name}`).map(refOf),
    },
    ...PULL_TYPES.map((type) => ({
      kind: Secrets,
      fields: `type=${type}`,
      wakes: (secret: CoreSecret) => room.workspaces.by('pullSecret', keyOf(refOf(secret))).map(refOf),
    })),
    ...SECRET_TYPES.map((type) => ({
      kind: Secrets,
      fields: `type=${type}`,
      wakes: ({ metadata }: CoreSecret) => targets.by(BY_SECRET, `${metadata.namespace}/${metadata.name}`).flatMap(byTarget),
    })),
  ]
}

/** Whom a place in the class is for. */
const waitingFor = (room: Room, name: string): Ref[] =>
  room.workspaces
    .by('class', name)
    .filter((workspace) => !hasPlace(workspace))
    .map(refOf)

const ofSecret = ({ metadata, spec }: DeploymentTarget): string[] => [
  `${metadata.namespace}/${spec.kubernetesCredentials.clusterCredentialsSecret}`,
]

const ofTarget = ({ metadata, spec, status }: DeploymentTargetClaim): string[] => [
  `${metadata.namespace}/${status?.target?.name ?? spec.targetName ?? ''}`,
]
