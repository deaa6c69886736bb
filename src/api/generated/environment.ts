// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What the environment is and where it leads.
 */
export interface EnvironmentSpec {
  /**
   * Deprecated. Whether the environment is a proof of concept.
   */
  type?: 'POC' | 'Non-POC'
  /**
   * The name that people see.
   */
  displayName: string
  /**
   * Manual - somebody promotes to it. AppStudioAutomated - new versions are deployed to it by themselves.
   */
  deploymentStrategy: 'Manual' | 'AppStudioAutomated'
  /**
   * The environment in the same namespace from which is promoted to this one.
   */
  parentEnvironment?: string
  /**
   * Free words to tell environments apart, for example `ephemeral`.
   */
  tags?: string[]
  /**
   * Settings for what is deployed here, and the target.
   */
  configuration?: {
    /**
     * Environment variables for what is deployed here.
     */
    env?: {
      /**
       * Name of the variable.
       */
      name: string
      /**
       * Value of the variable.
       */
      value: string
    }[]
    /**
     * Where the environment leads.
     */
    target?: {
      /**
       * The claim whose target is deployed to.
       */
      deploymentTargetClaim: {
        /**
         * Name of a DeploymentTargetClaim in the same namespace. Empty means none.
         */
        claimName: string
      }
    }
  }
  /**
   * Credentials given directly instead of a claim. Its presence, even empty, together with a claim is an error.
   */
  unstableConfigurationFields?: {
    /**
     * What kind of cluster it is. Kubernetes needs an `ingressDomain`.
     */
    clusterType?: 'Kubernetes' | 'OpenShift'
    /**
     * How to reach the cluster.
     */
    kubernetesCredentials?: {
      /**
       * Namespace to deploy to.
       */
      targetNamespace: string
      /**
       * URL of the Kubernetes API, starting with `https://`.
       */
      apiURL: string
      /**
       * Domain under which applications in the cluster are published.
       */
      ingressDomain?: string
      /**
       * Name of the Secret in the same namespace that holds the credentials.
       */
      clusterCredentialsSecret: string
      /**
       * Do not verify the certificate of the API server. For development only. Default: false.
       */
      allowInsecureSkipTLSVerify?: boolean
      /**
       * Namespaces that the credentials are good for. Empty means all.
       */
      namespaces?: string[]
      /**
       * Whether the credentials are good for cluster-scoped objects too. Ignored without `namespaces`.
       */
      clusterResources?: boolean
    }
  }
}

/**
 * What Berth made of the environment.
 */
export interface EnvironmentStatus {
  /**
   * Name of the GitOpsDeploymentManagedEnvironment that was made for it.
   */
  managedEnvironment?: string
  /**
   * Name of the DeploymentTarget that the environment leads to.
   */
  target?: string
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, ErrorOccurred and Reconciled.
   */
  conditions?: Condition[]
}
