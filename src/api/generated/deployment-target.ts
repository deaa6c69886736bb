// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What the target is and who may have it.
 */
export interface DeploymentTargetSpec {
  /**
   * Class of the target. Only claims of the same class match it. Empty means that it belongs to no class, and matches claims that ask for none.
   */
  deploymentTargetClassName: string
  /**
   * The claim in the same namespace that has this target, or for which it is reserved - `{name, uid}`, `{name}` or just the name. Berth writes `{name, uid}`, and that write is what decides who gets the target.
   */
  claimRef?: string | {name: string; uid?: string}
  /**
   * How to reach the target.
   */
  kubernetesCredentials: {
    /**
     * Namespace to deploy to. Empty means that whoever deploys has to say.
     */
    defaultNamespace: string
    /**
     * URL of the Kubernetes API. Must equal the `server` of a cluster in the kubeconfig of the secret.
     */
    apiURL: string
    /**
     * Name of the Secret in the same namespace that holds the credentials, a kubeconfig under the key `kubeconfig`.
     */
    clusterCredentialsSecret: string
    /**
     * Do not verify the certificate of the API server. For development only. Default: false.
     */
    allowInsecureSkipTLSVerify?: boolean
  }
  /**
   * What this target offers.
   */
  resources?: {
    /**
     * The least - by name (`cpu`, `memory`, …), as Kubernetes quantities. What matching compares.
     */
    requests?: Record<string, number | string>
    /**
     * The most - by name, as Kubernetes quantities.
     */
    limits?: Record<string, number | string>
  }
  /**
   * CPU architecture, such as `x86-64` or `arm64`; `x86_64`, `amd64` and `x86-64` mean the same. Without it, any.
   */
  arch?: string
}

/**
 * What Berth found out about the target.
 */
export interface DeploymentTargetStatus {
  /**
   * Pending - not yet available for binding; the conditions say why. Available - waits for a claim. Bound - a claim has it. Released - its claim was deleted, what it stands for was not freed. Failed - its claim was deleted, and freeing what it stands for did not succeed (yet).
   */
  phase?: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed'
  /**
   * What happens to the target when its claim is deleted. Copied from the class when the target was bound, so that a class that is missing or changed later cannot block or alter the deletion.
   */
  reclaimPolicy?: 'Delete' | 'Retain'
  /**
   * The claim that had the target before it was released.
   */
  lastClaim?: {
    /**
     * Name of the claim.
     */
    name: string
    /**
     * UID of the claim; a claim of the same name that was made later has another one.
     */
    uid?: string
  }
  /**
   * When the claim was found to be gone.
   */
  releasedAt?: string
  /**
   * What the condition Reachable speaks of. Another address, or another version of the Secret, is asked anew; so a restart asks nobody.
   */
  asked?: {
    /**
     * The address that was asked.
     */
    apiURL: string
    /**
     * UID and resourceVersion of the Secret whose token was sent.
     */
    secretVersion: string
    /**
     * Whether the certificate of the API server went unverified.
     */
    allowInsecureSkipTLSVerify?: boolean
  }
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready (can be bound or is bound), CredentialsValid (the Secret is there and usable), Reachable (the API answers; binding never waits for it) and ErrorOccurred.
   */
  conditions?: Condition[]
}
