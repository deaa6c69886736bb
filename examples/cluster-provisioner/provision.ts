import {
  askedProvisionerOf,
  byClaimUid,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  isDeleting,
  refOf,
  Secrets,
} from '../../src/api/index.ts'
import { type Controller, type ControllerContext, createWakeups, settled } from '../../src/engines/controller/index.ts'
import { Failure, isFailure } from '../../src/std/index.ts'
import type { Clusters } from './clusters.ts'
import { dataOf, nodesOf, PROVISIONER, secretFor, targetFor } from './desired.ts'

const MANAGER = 'cluster-provisioner'

/** Claims that Berth marked with our name get a cluster, a Secret and a target, in this order. */
export function clusterProvisioning(
  { kube, caches, events, log }: ControllerContext,
  clusters: Clusters,
): Controller<DeploymentTargetClaim> {
  const claims = caches.of(DeploymentTargetClaims)
  const classes = caches.of(DeploymentTargetClasses)
  const targets = caches.of(DeploymentTargets)

  /** Clusters that were begun for a claim that went before it had its target. */
  const sweep = async () => {
    const asked = new Set([...claims.all()].map(({ metadata }) => metadata.uid))
    for (const uid of clusters.uids()) {
      if (!asked.has(uid) && targets.by(byClaimUid, uid).length === 0) await clusters.remove(uid)
    }
  }

  return {
    name: MANAGER,
    kind: DeploymentTargetClaims,
    watches: [
      {
        kind: DeploymentTargetClasses,
        wakes: ({ metadata }) =>
          [...claims.all()].filter(({ spec }) => spec.deploymentTargetClassName === metadata.name).map(refOf),
      },
    ],
    async reconcile(claim, signal) {
      const from = classes.get({ name: claim.spec.deploymentTargetClassName })
      const isOurs = askedProvisionerOf(claim) === PROVISIONER && from?.spec.provisioner === PROVISIONER
      const isWaiting = claim.status?.phase === 'Pending' && !claim.spec.targetName && !isDeleting(claim)
      if (!isOurs || !isWaiting || targets.by(byClaimUid, claim.metadata.uid ?? '').length > 0) return settled()

      const nodes = nodesOf(from)
      events.record(claim, { type: 'Normal', reason: 'Provisioning', message: `starting a cluster with ${nodes} nodes` })
      const cluster = await clusters.ensure(claim.metadata.uid ?? '', nodes, signal)
      const secret = secretFor(claim, cluster)
      await orThere(kube.create(Secrets, secret, { manager: MANAGER }), () =>
        kube.patch(Secrets, refOf(secret), { data: dataOf(cluster) }),
      )
      await orThere(kube.create(DeploymentTargets, targetFor(claim, from, cluster), { manager: MANAGER }))
      return settled()
    },
    async gone() {
      await sweep()
      return settled()
    },
    // What went while nobody looked.
    wakeups: createWakeups(
      () =>
        void sweep().catch((thrown: unknown) =>
          log.warn('clusters without a claim not removed', { failure: Failure.from(thrown) }),
        ),
    ),
  }
}

/** The names come from the claim's UID: what is there under them is ours, of an earlier try. */
async function orThere(creation: Promise<unknown>, otherwise?: () => Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (failure) {
    if (!isFailure(failure, 'already-exists')) throw failure
    await otherwise?.()
  }
}
