// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * The settings.
 */
export interface WorkspaceClassSpec {
  /**
   * Whether new workspaces may use the class. Workspaces that exist go on. Default: true.
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
     * Namespace of the proxy, which the network policies let in. Default: the one that Berth is installed in.
     */
    namespace?: string
    /**
     * Whether browsers are let in. Default: true.
     */
    httpEnabled?: boolean
    /**
     * Whether SSH is let in. Default: true.
     */
    sshEnabled?: boolean
    /**
     * The widest visibility that the ports of workspaces have, whatever they ask for. With owner, shares let nobody in either. Default: authenticated.
     */
    maxVisibility?: 'owner' | 'members' | 'authenticated' | 'public'
    /**
     * How the proxy gets to the workspaces. Service, by the address of a Service, which it has to reach; Tunnel, through kas, to which each pod opens tunnels, so that the cluster needs no way in at all. Default: Service.
     */
    wayIn?: 'Service' | 'Tunnel'
  }
  /**
   * What a workspace may reach.
   */
  networkPolicy?: {
    /**
     * Whether a NetworkPolicy is made. Default: true.
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
    /**
     * Namespaces, in the cluster that the workspace runs in, all of whose pods may be reached whatever egress says. One with a Git server, for example.
     */
    namespaces?: string[]
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
   * How many workspaces the class may have; -1 means any number. Lowering it removes none. Default: -1.
   */
  workspacesQuota?: number
  /**
   * How many workspaces one owner may have; -1 means any number. Default: -1.
   */
  workspacesPerUserQuota?: number
  /**
   * Whether the pods run in a user namespace (`hostUsers` false). Default: false.
   */
  useKubernetesUserNamespaces?: boolean
  /**
   * RuntimeClass of the pods; empty means the cluster's default.
   */
  defaultRuntimeClass?: string
  /**
   * Whether processes may gain privileges. Only with user namespaces or an isolating runtime class. Default: false.
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
   * After how many hours a running workspace is stopped. Default: 36.
   */
  maxActiveHoursBeforeStop?: number
  /**
   * After how many hours a stopped workspace is terminated. Default: 744.
   */
  maxStoppedHoursBeforeTermination?: number
  /**
   * After how many hours the Workspace object of one that is Terminated is deleted; -1 means never, 0 at once. Default: -1.
   */
  maxTerminatedHoursBeforeDeletion?: number
  /**
   * After how many hours from its creation a workspace is terminated, whatever it does. Default: 8760.
   */
  maxLifeHours?: number
  /**
   * How long a container that has ended and was started again has to stay up before the workspace counts as Running, seconds. Its first start counts at once. Default: 10.
   */
  steadyAfterSeconds?: number
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
     * Time zone of both, such as Europe/Berlin. Default: UTC.
     */
    timeZone?: string
  }
  /**
   * What happens to a workspace that nobody uses.
   */
  idle?: {
    /**
     * After how many minutes without use it is stopped; 0 means never. Only while somebody watches its use - without the proxy nothing is known of it, and nothing is stopped for it. Default: 0.
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
     * An editor that Berth knows how to bring and to start: Terminal (ttyd, from the operator's --workspace-image), CodeServer or OpenVSCode (from their own images, for containers with glibc). Empty means what the image brings.
     */
    preset?: '' | 'Terminal' | 'CodeServer' | 'OpenVSCode'
    /**
     * Image that brings the editor; with a preset, in place of the image that the preset has. Empty without a preset means no editor.
     */
    image?: string
    /**
     * Port on which the editor listens. Default: 60001.
     */
    port?: number
  }
  /**
   * What clones the project into the workspace.
   */
  projectCloner?: {
    /**
     * Image with a shell and git. Without it, that of the operator's --workspace-image.
     */
    image?: string
  }
  /**
   * Devfile for workspaces that bring none, nor have a project with one.
   */
  devfile?: string
  /**
   * Hosts from which devfiles may have parents by https - name, *.example.com or name:port - as far as kas reads from there (--devfile-hosts). Without it all from which kas does.
   */
  devfileHosts?: string[]
  /**
   * The volume that keeps the project.
   */
  storage?: {
    /**
     * Size of the volume. Default: 10Gi.
     */
    size?: number | string
    /**
     * StorageClass; empty means the cluster's default.
     */
    storageClassName?: string
  }
  /**
   * Claims and volumes that are made before anybody asks for them. A new workspace without a claim of its own takes one.
   */
  warmPool?: {
    /**
     * How many are kept ready in each of the namespaces. Default: 0.
     */
    size?: number
    /**
     * The namespaces whose workspaces have a pool. A claim and its target cannot move to another.
     */
    namespaces?: string[]
  }
  /**
   * Copies of the volume for when something is lost. They end with their workspace.
   */
  backup?: {
    /**
     * Whether the volume is backed up each time the workspace has stopped. A stop never waits for it. Default: false.
     */
    onStop?: boolean
    /**
     * How many backups of a workspace are kept. Default: 3.
     */
    keep?: number
    /**
     * VolumeSnapshotClass, where the target has snapshots; empty means the driver's default.
     */
    volumeSnapshotClassName?: string
    /**
     * The volume for archives, where the target has no snapshots.
     */
    archive?: {
      /**
       * Its size, for all archives together. Default: 10Gi.
       */
      size?: number | string
      /**
       * Its StorageClass; empty means the cluster's default.
       */
      storageClassName?: string
    }
  }
  /**
   * Whether the home of the user lasts over stops and starts, as the project does.
   */
  persistentHome?: {
    /**
     * Whether containers with the project have their home on the volume. Default: false.
     */
    enabled?: boolean
    /**
     * The home in the containers. A container that has a volume of the devfile there keeps that. Default: /home/user.
     */
    path?: string
    /**
     * Whether what the image has in its home is brought to the volume at the first start. The image needs a shell and `cp` for it. Default: true.
     */
    copyFromImage?: boolean
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
   * What the warm pool has. Absent without one.
   */
  warmPool?: {
    /**
     * How many there should be.
     */
    wanted?: number
    /**
     * How many wait for a workspace.
     */
    ready?: number
    /**
     * How many are being made.
     */
    preparing?: number
    /**
     * What one that is being made waits for.
     */
    waitingFor?: string
  }
  /**
   * How many workspaces have the class. Counted now and then, by an operator that sees all namespaces.
   */
  workspaces?: {
    /**
     * All that are not Terminated.
     */
    total: number
    /**
     * How many are in each state.
     */
    byState?: Record<string, number>
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
