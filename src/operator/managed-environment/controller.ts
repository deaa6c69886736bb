import { OF_KUBECONFIGS, type Reach, secretFinder, secretWatches } from '../../adapters/kube/index.ts'
import {
  byCredentialsSecret,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  keyOf,
  refOf,
} from '../../api/index.ts'
import { type Controller, type ControllerContext, settled } from '../../engines/controller/index.ts'
import { seconds } from '../../std/index.ts'
import { reconcileManagedEnvironment } from './reconcile.ts'
import { refused, statusOf, undecided } from './status.ts'

export interface ManagedEnvironmentSettings {
  /** Where managed environments may lead; everywhere without it, since the own cluster may be anywhere. */
  reach?: Reach
  /** Milliseconds after which a cluster counts as not answering; 8 s without it. */
  patience?: number
}

/** Clusters that don't answer hold their worker for seconds, so there are more workers than elsewhere. */
const WORKERS = 48

/** Checks the credentials of every GitOpsDeploymentManagedEnvironment, on each change and every few minutes. */
export function managedEnvironments(
  context: ControllerContext,
  { reach, patience = seconds(8) }: ManagedEnvironmentSettings = {},
): Controller<GitOpsDeploymentManagedEnvironment> {
  const { caches } = context
  const all = caches.of(GitOpsDeploymentManagedEnvironments)
  const asked = new Map<string, { question: string; again: number }>()
  const inspection = { context, secret: secretFinder(caches, OF_KUBECONFIGS), asked, reach, patience }
  return {
    name: 'managed-environment',
    kind: GitOpsDeploymentManagedEnvironments,
    concurrency: WORKERS,
    watches: secretWatches(OF_KUBECONFIGS, (secret) => all.by(byCredentialsSecret, keyOf(refOf(secret))).map(refOf)),
    reconcile: (managed, signal) => reconcileManagedEnvironment(managed, inspection, signal),
    async gone(ref) {
      asked.delete(keyOf(ref))
      return settled()
    },
    failed: ({ status }, failure) =>
      failure.code === 'invalid' ? statusOf(refused(failure, false), status, context.clock.now()) : undecided(status),
  }
}
