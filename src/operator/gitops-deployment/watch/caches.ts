import type { Cache } from '../../../adapters/kube/index.ts'
import {
  byCredentialsSecret,
  type ConfigMap,
  ConfigMaps,
  type CoreSecret,
  type GitOpsDeployment,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type GitOpsDeploymentSpec,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  indexBy,
  keyOf,
  keysBeside,
  type Ref,
  refOf,
  Secrets,
  secretTypes,
  sourceUrl,
  withoutGit,
} from '../../../api/index.ts'
import type { ControllerContext, Waker, Watch } from '../../../engines/controller/index.ts'
import { INVENTORY_LABEL } from '../../../engines/gitops/index.ts'
import type { Clock } from '../../../std/index.ts'

const INVENTORIES = { labels: INVENTORY_LABEL }
const CREDENTIALS = { fields: `type=${secretTypes.managedEnvironment}` }

export interface SyncCaches {
  /** Throws why not all of a namespace is among them. */
  requireWhole(namespace: string): void
  deployments: Cache<GitOpsDeployment>
  environments: Cache<GitOpsDeploymentManagedEnvironment>
  secrets: Cache<CoreSecret>
  projects: Cache<GitProject>
  runs: Cache<GitOpsDeploymentSyncRun>
  inventories: Cache<ConfigMap>
  /** Which ConfigMaps and Secrets there are, and in which version; what is in them is read with the rights of tenants. */
  sources: { ConfigMap: Cache<ConfigMap>; Secret: Cache<CoreSecret> }
}

/** By the repository, however it is spelt. */
export const byRepository = {
  deployments: indexBy(({ spec }: GitOpsDeployment) => [sameRepository(sourceUrl(spec.source))]),
  projects: indexBy(({ spec }: GitProject) => [sameRepository(spec.url)]),
}
/** By the deployments that one waits for, or takes its commits from. */
const byLeader = indexBy((deployment: GitOpsDeployment) => [...dependenciesOf(deployment), ...followedBy(deployment)].map(keyOf))
/** By the managed environments that may be meant. */
export const byEnvironment = indexBy((deployment: GitOpsDeployment) =>
  environmentNames(deployment.spec).flatMap((name) => keysBeside(deployment, name)),
)
/** By what their values come from. */
const bySource = indexBy((deployment: GitOpsDeployment) =>
  sourcesOf(deployment).map(({ kind, name }) => `${kind} ${deployment.metadata.namespace}/${name}`),
)
export const byDeployment = indexBy((run: GitOpsDeploymentSyncRun) => keysBeside(run, run.spec.gitopsDeploymentName))

export const openCaches = ({ caches }: ControllerContext): SyncCaches => ({
  requireWhole: caches.requireWhole,
  deployments: caches.of(GitOpsDeployments),
  environments: caches.of(GitOpsDeploymentManagedEnvironments),
  secrets: caches.of(Secrets, CREDENTIALS),
  projects: caches.of(GitProjects),
  runs: caches.of(GitOpsDeploymentSyncRuns),
  inventories: caches.of(ConfigMaps, INVENTORIES),
  sources: { ConfigMap: caches.of(ConfigMaps, { namesOnly: true }), Secret: caches.of(Secrets, { namesOnly: true }) },
})

/** The GitOpsDeployments that have to be Ready before this one. */
export const dependenciesOf = ({ metadata, spec }: GitOpsDeployment): Ref[] =>
  (spec.dependsOn ?? []).map(({ namespace, name }) => ({ namespace: namespace || metadata.namespace, name }))

/** The GitOpsDeployment from which this one takes its commits, if there is one. */
export const followedBy = ({ metadata: { namespace }, spec: { source } }: GitOpsDeployment): Ref[] =>
  source.follow ? [{ namespace, name: source.follow.deployment }] : []

/** Two spellings of one repository give the same text: the host's case, `.git` and a slash at the end do not matter. */
export function sameRepository(url: string): string {
  const plain = withoutGit(url.trim())
  return URL.canParse(plain) ? new URL(plain).href.replace(/\/$/, '') : plain
}

/** Berth's managed environment of an Environment is named so. */
export const MADE_PREFIX = 'managed-environment-'

/**
 * `destination.environment` names a GitOpsDeploymentManagedEnvironment, as upstream has it, or the Environment that one
 * was made from (Berth names it `managed-environment-<environment>`). The first that exists is meant.
 */
export function environmentNames({ destination }: GitOpsDeploymentSpec): string[] {
  const name = destination?.environment
  return name ? [name, MADE_PREFIX + name] : []
}

/** The ConfigMaps and Secrets from which a deployment takes variables, values for a chart, and keys to what is encrypted. */
export const sourcesOf = ({ spec }: GitOpsDeployment): { kind: 'ConfigMap' | 'Secret'; name: string }[] => [
  ...(spec.variables?.from ?? []),
  ...(spec.source.helm?.valuesFrom ?? []),
  ...(spec.decryption ? [{ kind: 'Secret' as const, name: spec.decryption.secretRef.name }] : []),
]

/** The versions of what the values of a deployment come from, as far as they can be seen: other ones are other values. */
export const versionsOfSources = (deployment: GitOpsDeployment, { sources }: SyncCaches): string[] =>
  sourcesOf(deployment).map(
    ({ kind, name }) => sources[kind].get({ namespace: deployment.metadata.namespace, name })?.metadata.resourceVersion ?? '',
  )

/** Wakes the deployments whose values come from a ConfigMap or Secret, at a pace. */
export function followSources(
  { deployments, sources }: SyncCaches,
  { wake, signal }: Waker,
  { clock, pace }: { clock: Clock; pace: number },
): void {
  const wakeLater = createLaterWakes(wake, { clock, pace, signal })
  for (const kind of ['ConfigMap', 'Secret'] as const) {
    const forget = sources[kind].onChange((now, before) => {
      const { namespace, name } = (now ?? before)?.metadata ?? {}
      for (const deployment of deployments.by(bySource, `${kind} ${namespace}/${name}`)) wakeLater(refOf(deployment))
    })
    signal.addEventListener('abort', forget, { once: true })
  }
}

/**
 * Wakes each at most once in the time of `pace`, milliseconds. After each call comes a wake that is so much later, or what was read a moment
 * before it would count for what is there now.
 */
export function createLaterWakes(
  wake: (ref: Ref) => void,
  { clock, pace, signal }: { clock: Clock; pace: number; signal: AbortSignal },
): (ref: Ref) => void {
  const due = new Map<string, { cancel: () => void; isOnceMore: boolean }>()
  const wakeLater = (ref: Ref) => {
    const key = keyOf(ref)
    const known = due.get(key)
    if (known) {
      known.isOnceMore = true
      return
    }
    const ring = () => {
      const isOnceMore = due.get(key)?.isOnceMore
      due.delete(key)
      wake(ref)
      if (isOnceMore) wakeLater(ref)
    }
    due.set(key, { cancel: clock.after(pace, ring), isOnceMore: false })
  }
  const cancelAll = () => {
    for (const { cancel } of due.values()) cancel()
  }
  signal.addEventListener('abort', cancelAll, { once: true })
  return wakeLater
}

/** Whatever a deployment may wait for wakes it. */
export function watchesOf({ deployments, environments }: SyncCaches): Watch[] {
  const usersOf = ({ metadata }: GitOpsDeploymentManagedEnvironment): Ref[] =>
    deployments.by(byEnvironment, `${metadata.namespace}/${metadata.name}`).map(refOf)
  const ofEnvironment: Watch<GitOpsDeploymentManagedEnvironment> = { kind: GitOpsDeploymentManagedEnvironments, wakes: usersOf }
  const ofSecret: Watch<CoreSecret> = {
    kind: Secrets,
    ...CREDENTIALS,
    wakes: ({ metadata }) => environments.by(byCredentialsSecret, `${metadata.namespace}/${metadata.name}`).flatMap(usersOf),
  }
  const ofProject: Watch<GitProject> = {
    kind: GitProjects,
    wakes: ({ spec }) => deployments.by(byRepository.deployments, sameRepository(spec.url)).map(refOf),
  }
  const ofRun: Watch<GitOpsDeploymentSyncRun> = {
    kind: GitOpsDeploymentSyncRuns,
    wakes: ({ metadata, spec }) => [{ namespace: metadata.namespace, name: spec.gitopsDeploymentName }],
  }
  const ofLeader: Watch<GitOpsDeployment> = {
    kind: GitOpsDeployments,
    wakes: (deployment) => deployments.by(byLeader, keyOf(deployment.metadata)).map(refOf),
  }
  return [ofLeader, ofEnvironment, ofSecret, ofProject, ofRun]
}
