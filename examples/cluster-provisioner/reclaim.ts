import {
  annotations,
  type DeploymentTarget,
  DeploymentTargetClasses,
  DeploymentTargets,
  finalizers,
  hasFinalizer,
  isDeleting,
  labels,
  provisionedByOf,
  refOf,
  Secrets,
} from '../../src/api/index.ts'
import { again, type Controller, type ControllerContext, type Next, settled } from '../../src/engines/controller/index.ts'
import { Failure, seconds } from '../../src/std/index.ts'
import type { Clusters } from './clusters.ts'
import { dataOf, nodesOf, PROVISIONER } from './desired.ts'

const MANAGER = 'cluster-provisioner'

/** Keeps the clusters of living targets up, and takes those of deleted targets down if their policy says so. */
export function clusterReclaim({ kube, caches }: ControllerContext, clusters: Clusters): Controller<DeploymentTarget> {
  const classes = caches.of(DeploymentTargetClasses)

  /** After a restart of the machine the API server listens on another port. */
  const keepUp = async (target: DeploymentTarget, uid: string, signal: AbortSignal): Promise<Next> => {
    const from = classes.get({ name: target.spec.deploymentTargetClassName })
    const cluster = await clusters.ensure(uid, from ? nodesOf(from) : 1, signal)
    const { apiURL, clusterCredentialsSecret: name } = target.spec.kubernetesCredentials
    if (apiURL === cluster.server) return settled()
    await kube.patch(Secrets, { name, namespace: target.metadata.namespace }, { data: dataOf(cluster) })
    await kube.patch(DeploymentTargets, refOf(target), { spec: { kubernetesCredentials: { apiURL: cluster.server } } })
    return settled()
  }

  const free = async (target: DeploymentTarget, uid: string): Promise<void> => {
    const { clusterCredentialsSecret: name } = target.spec.kubernetesCredentials
    await clusters.remove(uid)
    await kube.delete(Secrets, { name, namespace: target.metadata.namespace })
  }

  const mark = (target: DeploymentTarget, metadata: object) =>
    kube.patch(
      DeploymentTargets,
      refOf(target),
      { metadata: { resourceVersion: target.metadata.resourceVersion, ...metadata } },
      { manager: MANAGER },
    )

  return {
    name: `${MANAGER}-reclaim`,
    kind: DeploymentTargets,
    async reconcile(target, signal) {
      const uid = target.metadata.labels?.[labels.claimUid]
      if (provisionedByOf(target) !== PROVISIONER || uid === undefined) return settled()
      if (!isDeleting(target)) return keepUp(target, uid, signal)
      if (!hasFinalizer(target, finalizers.provisioner)) return settled()

      const policy = target.status?.reclaimPolicy ?? target.metadata.annotations?.[annotations.reclaimPolicy]
      try {
        if (policy === 'Delete') await free(target, uid)
      } catch (thrown) {
        // Berth shows it as phase Failed; the finalizer stays until it succeeds.
        await mark(target, { annotations: { [annotations.reclaimFailed]: Failure.from(thrown).message } })
        return again({ after: seconds(10), why: 'the cluster could not be taken down' })
      }
      await mark(target, { finalizers: target.metadata.finalizers?.filter((name) => name !== finalizers.provisioner) ?? [] })
      return settled()
    },
  }
}
