import { type Meter, type Reach, secretFinder, secretWatches } from '../../adapters/kube/index.ts'
import {
  BERTH_NAMESPACE,
  byTarget,
  byUid,
  ConfigMaps,
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
  WORKSPACE_IMAGE,
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  Workspaces,
  workspacesOwning,
} from '../../api/index.ts'
import { type Controller, type ControllerContext, createWakeups, type Waker, type Watch } from '../../engines/controller/index.ts'
import { watchCredentials } from '../../engines/targets/index.ts'
import { createTurnstile, createYamlReaders, type Failure, type YamlReaders } from '../../std/index.ts'
import type { Assessment } from './actual-state/index.ts'
import type { TunnelSettings } from './desired/index.ts'
import type { WorkspaceGitSettings } from './git/index.ts'
import type { RemovalServices } from './lifetime/clean-up.ts'
import { type Applied, type ApplyServices, OF_REGISTRIES } from './objects/apply.ts'
import { isApplyFailure } from './objects/apply-failure.ts'
import { createComparisons } from './objects/comparisons.ts'
import { createErrands } from './objects/errands.ts'
import { CONTROLLER, claimNameOf } from './place/claim.ts'
import { byClass, type ClassDefaults, classNameOf, counts } from './place/class.ts'
import { hasPlace } from './place/quota.ts'
import { createTargetLookup } from './place/target.ts'
import { createDevfileParser, type Pinned } from './project/devfile.ts'
import type { DevfileSource } from './project/devfile-source.ts'
import { reconcileWorkspace, type WorkspaceServices } from './reconcile.ts'
import { tellChanges } from './status/remarks.ts'
import { createGatewayLookup, gatewayScope, watchGateway } from './status/ssh.ts'
import { standing } from './status/standing.ts'
import { statusAfter } from './status/status.ts'
import { createTargetConnections } from './watch/connections.ts'
import { createOrphanSearch } from './watch/orphans.ts'

/** Devfiles of one namespace that are read at once. */
const READINGS = 4

const byClaimed = indexBy((workspace: Workspace) => keysBeside(workspace, claimNameOf(workspace)))
/** By the Secrets of the settings that a workspace was created with. */
const byPullSecret = indexBy(({ status }: Workspace) => (status?.class?.settings?.imagePullSecrets ?? []).map(keyOf))
const byProject = indexBy((workspace: Workspace) => keysBeside(workspace, workspace.spec.project?.gitProject))
export interface WorkspaceSettings {
  /** Where targets may lead; everywhere without it. */
  reach?: Reach
  /** URLs of the own API: targets there are seen by one watch per kind. Without any each target is watched for itself. */
  own?: readonly string[] | undefined
  /** Counts requests to targets. */
  meter?: Meter | undefined
  /** The way from workspaces to Git. */
  git?: WorkspaceGitSettings
  /** For classes that say nothing of it. */
  defaults?: ClassDefaults
  /** The way into workspaces whose class has tunnels. */
  tunnels?: TunnelSettings | undefined
  /** From where devfiles of projects and their parents are read. */
  devfiles?: DevfileSource | undefined
  /** Reads devfiles; with threads of its own where none is given. */
  yaml?: YamlReaders
}

/** Brings workspaces to what they should be, in the targets that they claim. */
export function workspaces(context: ControllerContext, settings: WorkspaceSettings = {}): Controller<Workspace> {
  const wakeups = createWakeups()
  const services = servicesFor(context, wakeups, settings)
  const { namespace: home } = services.places.defaults
  return {
    name: CONTROLLER,
    kind: Workspaces,
    watches: [...watchesOf(context, services), watchGateway(home, services.gateway, () => services.places.workspaces.all())],
    reconcile: async (workspace) => tellChanges(context, workspace, await reconcileWorkspace(workspace, services)),
    failed: (workspace, failure) =>
      statusAfter(workspace, failure, { stands: standingAfter(workspace, failure, services), gateway: services.gateway() }),
    wakeups,
  }
}

/** Where its objects were refused, an older state may still run. */
const standingAfter = (workspace: Workspace, failure: Failure, services: WorkspaceServices): Assessment | undefined =>
  isApplyFailure(failure)
    ? standing(workspace, workspace.status?.class?.settings, services.context.clock.now(), services)?.assessment
    : undefined

function servicesFor(
  context: ControllerContext,
  wakeups: Waker,
  {
    reach,
    own,
    meter,
    git = {},
    defaults = { image: WORKSPACE_IMAGE, namespace: BERTH_NAMESPACE },
    tunnels,
    devfiles: source,
    yaml = createYamlReaders(),
  }: WorkspaceSettings,
): WorkspaceServices {
  const { kube, caches, clock, log } = context
  const claims = caches.of(DeploymentTargetClaims)
  const projects = caches.of(GitProjects)
  const classes = caches.of(WorkspaceClasses)
  const all = caches.of(Workspaces)
  const project = (ref: Ref) => projects.get(ref)
  const findSecret = secretFinder(caches, OF_REGISTRIES)
  const pullSecret = (ref: Ref) => {
    const secret = findSecret(ref)
    return secret?.leftOut === undefined ? secret : undefined
  }
  const lookup = { ...createTargetLookup(caches), claims }
  const comparisons = createComparisons(clock)
  const applying: ApplyServices = { context, project, pullSecret, comparisons }
  const connections = createTargetConnections({
    clock,
    log,
    wakeups,
    own: own && { kube, memory: caches.memory, urls: own },
    reach,
    meter,
    workspace: (uid) => all.by(byUid, uid)[0],
    drifted: comparisons.noteDrift,
  })
  const parser = createDevfileParser(yaml)
  const errands = createErrands<Applied>(clock)
  const readings = createErrands<Pinned>(clock)
  const removals: RemovalServices['removals'] = new Map()
  const forget = (workspace: Workspace) => {
    const { uid = '' } = workspace.metadata
    connections.release(workspace)
    for (const memory of [errands, readings, comparisons, removals]) memory.delete(uid)
  }
  return {
    context,
    wakeups,
    places: { kube, workspaces: all, classes, defaults, turns: createTurnstile({ each: 1 }) },
    supply: { kube, claims, classes, targetClasses: caches.of(DeploymentTargetClasses) },
    lookup,
    connections,
    git: { kube, project, settings: git },
    tunnels,
    devfiles: { source, parser },
    readings,
    readingTurns: createTurnstile({ each: READINGS }),
    errands,
    applying,
    removal: { context, classes, lookup, connections, parser, removals, isApplying: errands.isUnderWay, forget },
    tellOrphans: createOrphanSearch(context, { workspaces: all, targets: lookup.targets }),
    gateway: createGatewayLookup(caches.of(ConfigMaps, gatewayScope(defaults.namespace)), defaults.namespace),
  }
}

function watchesOf({ caches }: ControllerContext, { places: { workspaces: all, classes } }: WorkspaceServices): Watch[] {
  const claims = caches.of(DeploymentTargetClaims)
  const ofClaim = (claim: DeploymentTargetClaim): Ref[] => [
    ...all.by(byClaimed, keyOf(refOf(claim))).map(refOf),
    // One of a warm pool has another name than the workspace gives its own.
    ...workspacesOwning(claim).flatMap((uid) => all.by(byUid, uid).map(refOf)),
  ]
  const ofTarget = ({ metadata }: DeploymentTarget): Ref[] =>
    claims.by(byTarget, `${metadata.namespace}/${metadata.name}`).flatMap(ofClaim)
  const seen = new Map<string, string>()
  const ofClass = ({ metadata: { name } }: WorkspaceClass): Ref[] => {
    const now = classes.get({ name })
    const version = now ? `${now.metadata.uid} ${now.metadata.generation}` : ''
    // A place that is given changes the class, too, and concerns nobody else.
    if (version === seen.get(name)) return []
    seen.set(name, version)
    return all.by(byClass, name).map(refOf)
  }
  /** A place in the class is for those that have none. */
  const waitingFor = (name: string): Ref[] =>
    all
      .by(byClass, name)
      .filter((each) => !hasPlace(each))
      .map(refOf)
  return [
    { kind: WorkspaceClasses, wakes: ofClass },
    // A workspace that ends leaves a place in its class's quota.
    { kind: Workspaces, wakes: (workspace: Workspace) => (counts(workspace) ? [] : waitingFor(classNameOf(workspace))) },
    { kind: DeploymentTargetClaims, wakes: ofClaim },
    { kind: DeploymentTargets, wakes: ofTarget },
    {
      kind: GitProjects,
      wakes: ({ metadata }: GitProject) => all.by(byProject, `${metadata.namespace}/${metadata.name}`).map(refOf),
    },
    ...secretWatches(OF_REGISTRIES, (secret) => all.by(byPullSecret, keyOf(refOf(secret))).map(refOf)),
    ...watchCredentials(caches, ofTarget),
  ]
}
