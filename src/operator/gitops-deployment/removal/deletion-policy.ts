import type { Kube } from '../../../adapters/kube/index.ts'
import { finalizers, type GitOpsDeployment, GitOpsDeployments, hasFinalizer, refOf, withFinalizer } from '../../../api/index.ts'

export type DeletionPolicy = NonNullable<GitOpsDeployment['spec']['deletionPolicy']>

/** Set by people, in the words of managed-gitops and of Argo CD: what was deployed goes first. */
const ASKING = [finalizers.gitopsDeployment, finalizers.argoApplication]

export const policyOf = (deployment: GitOpsDeployment): DeletionPolicy =>
  deployment.spec.deletionPolicy ?? (ASKING.some((finalizer) => hasFinalizer(deployment, finalizer)) ? 'Wait' : 'Orphan')

/** Whether its deletion waits for us. */
export const hasOurFinalizer = ({ metadata }: GitOpsDeployment): boolean => metadata.finalizers?.some(isOurs) ?? false

const isOurs = (finalizer: string): boolean =>
  finalizer === finalizers.gitopsObjects || ASKING.some((asked) => asked === finalizer)

/**
 * A policy is kept only if the deletion waits for it, so our finalizer is there before the first object is, and goes when no
 * policy is stated any more. Answers whether it had to write.
 */
export async function keepFinalizer(deployment: GitOpsDeployment, kube: Kube): Promise<boolean> {
  const wanted = deployment.spec.deletionPolicy !== undefined
  if (hasFinalizer(deployment, finalizers.gitopsObjects) === wanted) return false
  const patch = wanted
    ? withFinalizer(deployment, finalizers.gitopsObjects)
    : withoutFinalizers(deployment, (finalizer) => finalizer === finalizers.gitopsObjects)
  await kube.patch(GitOpsDeployments, refOf(deployment), patch)
  return true
}

/** The deletion does not wait for us any more. Answers the object if others still hold it. */
export async function dropFinalizers(deployment: GitOpsDeployment, kube: Kube): Promise<GitOpsDeployment | undefined> {
  const written = await kube.patch(GitOpsDeployments, refOf(deployment), withoutFinalizers(deployment, isOurs))
  return (written.metadata.finalizers?.length ?? 0) > 0 ? written : undefined
}

const withoutFinalizers = ({ metadata }: GitOpsDeployment, leaves: (finalizer: string) => boolean) => ({
  metadata: {
    resourceVersion: metadata.resourceVersion,
    finalizers: (metadata.finalizers ?? []).filter((finalizer) => !leaves(finalizer)),
  },
})
