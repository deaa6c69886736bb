// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * The settings.
 */
export interface WorkspaceClassSpec {
  /**
   * Whether new workspaces may use the class. Workspaces that exist go on.
   */
  enabled?: boolean
  /**
   * Class from which a workspace without a claim of its own claims its target.
   */
  deploymentTargetClassName?: string
  /**
   * Domain under which the workspaces are published; with the name of a host before it, it stays within 253 characters. Not needed while they are not published by HTTP.
   */
  dnsZone?: string
  /**
   * The way into the workspaces.
   */
  proxy?: {
    /**
     * Namespace of the proxy, which the network policies let in.
     */
    namespace?: string
    /**
     * Whether browsers are let in.
     */
    httpEnabled?: boolean
    /**
     * Whether SSH is let in.
     */
    sshEnabled?: boolean
  }
  /**
   * What a workspace may reach.
   */
  networkPolicy?: {
    /**
     * Whether a NetworkPolicy is made.
     */
    enabled?: boolean
    /**
     * Address ranges that may be reached.
     */
    egress?: {
      /**
       * Range that may be reached.
       */
      allow: string
      /**
       * Ranges in it that may not.
       */
      except?: string[]
    }[]
  }
  /**
   * Resources of containers for which the devfile says none. Empty, or both requests and limits.
   */
  defaultResourcesPerWorkspaceContainer?: {
    /**
     * What a container is guaranteed.
     */
    requests?: {
      /**
       * CPU, such as `500m`.
       */
      cpu?: number | string
      /**
       * Memory, such as `512Mi`.
       */
      memory?: number | string
    }
    /**
     * What a container may use.
     */
    limits?: {
      /**
       * CPU, such as `500m`.
       */
      cpu?: number | string
      /**
       * Memory, such as `512Mi`.
       */
      memory?: number | string
    }
  }
  /**
   * What all containers of a workspace may ask for together. Empty, or both requests and limits.
   */
  maxResourcesPerWorkspace?: {
    /**
     * The most that may be guaranteed.
     */
    requests?: {
      /**
       * CPU, such as `500m`.
       */
      cpu?: number | string
      /**
       * Memory, such as `512Mi`.
       */
      memory?: number | string
    }
    /**
     * The most that may be used.
     */
    limits?: {
      /**
       * CPU, such as `500m`.
       */
      cpu?: number | string
      /**
       * Memory, such as `512Mi`.
       */
      memory?: number | string
    }
  }
  /**
   * How many workspaces the class may have; -1 means any number. Lowering it removes none.
   */
  workspacesQuota?: number
  /**
   * How many workspaces one owner may have; -1 means any number.
   */
  workspacesPerUserQuota?: number
  /**
   * Whether the pods run in a user namespace (`hostUsers` false).
   */
  useKubernetesUserNamespaces?: boolean
  /**
   * RuntimeClass of the pods; empty means the cluster's default.
   */
  defaultRuntimeClass?: string
  /**
   * Whether processes may gain privileges. Only with user namespaces or an isolating runtime class.
   */
  allowPrivilegeEscalation?: boolean
  /**
   * Secrets for image registries that are copied into the namespaces of workspaces. A missing one is left out.
   */
  imagePullSecrets?: {
    /**
     * Name of the Secret.
     */
    name: string
    /**
     * Namespace of the Secret.
     */
    namespace: string
  }[]
  /**
   * Labels for everything that is made for a workspace.
   */
  labels?: Record<string, string>
  /**
   * Annotations for everything that is made for a workspace.
   */
  annotations?: Record<string, string>
  /**
   * After how many hours a running workspace is stopped.
   */
  maxActiveHoursBeforeStop?: number
  /**
   * After how many hours a stopped workspace is terminated.
   */
  maxStoppedHoursBeforeTermination?: number
  /**
   * After how many hours from its creation a workspace is terminated, whatever it does.
   */
  maxLifeHours?: number
  /**
   * When workspaces that have no schedule of their own are started and stopped by the clock.
   */
  schedule?: {
    /**
     * When a stopped workspace is started, as five cron fields.
     */
    start?: string
    /**
     * When a running workspace is stopped, as five cron fields.
     */
    stop?: string
    /**
     * Time zone of both, such as Europe/Berlin.
     */
    timeZone?: string
  }
  /**
   * What happens to a workspace that nobody uses.
   */
  idle?: {
    /**
     * After how many minutes without use it is stopped; 0 means never. Only while somebody watches its use - without the proxy nothing is known of it, and nothing is stopped for it.
     */
    stopAfterMinutes?: number
  }
  /**
   * Namespace that all workspaces of the class share; empty means one for each, from its own target.
   */
  sharedNamespace?: string
  /**
   * The editor that is put into a workspace whose devfile asks for none.
   */
  editor?: {
    /**
     * Image that brings the editor; empty means none.
     */
    image?: string
    /**
     * Port on which the editor listens.
     */
    port?: number
  }
  /**
   * What clones the project into the workspace.
   */
  projectCloner?: {
    /**
     * Image with a shell and git.
     */
    image?: string
  }
  /**
   * Devfile for workspaces that bring none.
   */
  devfile?: string
  /**
   * The volume that keeps the project.
   */
  storage?: {
    /**
     * Size of the volume.
     */
    size?: number | string
    /**
     * StorageClass; empty means the cluster's default.
     */
    storageClassName?: string
  }
}

/**
 * What is known about the class.
 */
export interface WorkspaceClassStatus {
  /**
   * The workspace that was given the last place in the quotas. Whoever writes it has the next turn, so that two operators never give the same place away.
   */
  lastAdmitted?: {
    /**
     * Its namespace.
     */
    namespace: string
    /**
     * Its name.
     */
    name: string
    /**
     * Its UID.
     */
    uid: string
  }
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready.
   */
  conditions?: Condition[]
}
