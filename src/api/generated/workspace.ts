// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'
import type { WorkspaceClassSpec } from './workspace-class.ts'

/**
 * What the workspace is, and whether it should run.
 */
export interface WorkspaceSpec {
  /**
   * What the workspace should be. RestartRequested becomes Running by itself once it has stopped. Terminated is final. Default: Running.
   */
  desiredState?: 'Running' | 'Stopped' | 'RestartRequested' | 'Terminated'
  /**
   * Asks for a restart each time it is set to a later time, as an alternative to RestartRequested that does not change `desiredState`.
   */
  restartedAt?: string
  /**
   * User name of the person whose workspace it is. Set from the identity of whoever creates it.
   */
  owner?: string
  /**
   * When the workspace is started and stopped by the clock. Without it as the class says; it may change at any time.
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
   * A running workspace is not stopped by itself before this time, neither for idleness nor by its schedule or its time limit; but no longer than the class's maxActiveHoursBeforeStop from when it was set. `berth bump` sets it.
   */
  keepUntil?: string
  /**
   * Each time it is set to a later time the workspace takes over the settings that its class has then. Without it, it keeps those that it was created with.
   */
  upgradedAt?: string
  /**
   * Who may use the workspace besides its owner. Only the owner and administrators may change it.
   */
  shares?: {
    /**
     * What the grant is called.
     */
    name: string
    /**
     * User name of the person.
     */
    user?: string
    /**
     * Name of the group.
     */
    group?: string
    /**
     * The grant is for whoever has a link - the SHA-256, in hexadecimal, of the 43 characters that `berth share` makes for it. The class has to allow ports for everybody who has signed in. The editor is never opened by a link.
     */
    linkDigest?: string
    /**
     * Names of the ports that are shared. Without it none; all of them must be named.
     */
    ports?: string[]
    /**
     * When the grant ends. Without it when it is removed.
     */
    expiresAt?: string
  }[]
  /**
   * Public keys of the owner, each a line as in authorized_keys, without options. Whoever has the private half of one gets in over SSH as the owner, where the proxy takes SSH. Only the owner and administrators may change it.
   */
  sshKeys?: string[]
  /**
   * WorkspaceClass. Without it the class `default`.
   */
  workspaceClassName?: string
  /**
   * The project to work on. Without it the workspace starts empty.
   */
  project?: {
    /**
     * Name of a GitProject in the same namespace.
     */
    gitProject: string
    /**
     * Branch, tag or commit. Without it the default branch.
     */
    ref?: string
  }
  /**
   * How Git is used in the workspace.
   */
  git?: {
    /**
     * Secret in the same namespace with the owner's Git credentials, used instead of the GitProject's - `username` and `password`, or `token`; `ssh-privatekey` and `known_hosts`. It is labelled `berth.dev/git-credentials` with the value `true` and annotated `berth.dev/git-owner` with the owner's user name.
     */
    credentialsSecretRef?: {
      /**
       * Name of the Secret.
       */
      name: string
    }
    /**
     * ByKas - kas is asked for the credentials whenever they are needed. ByCopy - the Secret of credentialsSecretRef is copied into the target, for clusters that kas cannot ask about tokens. Keys for SSH are always copied. Default: ByKas.
     */
    delivery?: 'ByKas' | 'ByCopy'
    /**
     * Name of the author of commits. Without it the owner's user name.
     */
    userName?: string
    /**
     * Address of the author of commits. Without it the owner's user name, where that is an address.
     */
    userEmail?: string
  }
  /**
   * Where the devfile comes from. Without it the project's .devfile.yaml or devfile.yaml, else the one of the class.
   */
  devfile?: {
    /**
     * The devfile itself, as YAML.
     */
    inline?: string
    /**
     * Path of the devfile in the project.
     */
    path?: string
  }
  /**
   * Where the workspace runs. Without it a claim of its own is made from the class.
   */
  target?: {
    /**
     * Name of a DeploymentTargetClaim in the same namespace, which may be shared.
     */
    claimName: string
  }
  /**
   * A backup that the workspace begins with, instead of an empty volume. It is of a workspace of the same owner, in the same target.
   */
  restoreFrom?: {
    /**
     * Name of the Workspace in the same namespace.
     */
    workspace: string
    /**
     * Name of its backup. Without it the newest.
     */
    backup?: string
  }
  /**
   * Variables and files for the workspace, frozen at its creation.
   */
  variables?: {
    /**
     * Name of the variable or file.
     */
    name: string
    /**
     * Its value. Secrets belong into secretKeyRef.
     */
    value?: string
    /**
     * A key of a Secret in the same namespace that is labelled `berth.dev/workspace-variables` with the value `true`.
     */
    secretKeyRef?: {
      /**
       * Name of the Secret.
       */
      name: string
      /**
       * Key in it.
       */
      key: string
    }
    /**
     * environment - an environment variable. file - a file, and an environment variable of that name that holds its path. Default: environment.
     */
    type?: 'environment' | 'file'
  }[]
  /**
   * Ports besides the endpoints of the devfile.
   */
  ports?: {
    /**
     * Name of the port.
     */
    name: string
    /**
     * Number of the port.
     */
    port: number
    /**
     * Who may reach it besides those it is shared with - owner, members (whoever any share names), authenticated (whoever is signed in), or public. The class may allow less. It holds for whatever has this port number; for the port of the editor it is never more than members. Default: owner.
     */
    visibility?: 'owner' | 'members' | 'authenticated' | 'public'
  }[]
  /**
   * Resources of containers, instead of those that the devfile says. Within what the class allows; they take effect when the workspace is started next.
   */
  resources?: {
    /**
     * Name of the devfile's component.
     */
    container: string
    /**
     * What it is guaranteed.
     */
    requests?: {
      /**
       * CPU, such as `500m`.
       */
      cpu?: number | string
      /**
       * Memory, such as `2Gi`.
       */
      memory?: number | string
    }
    /**
     * What it may use.
     */
    limits?: {
      /**
       * CPU, such as `500m`.
       */
      cpu?: number | string
      /**
       * Memory, such as `2Gi`.
       */
      memory?: number | string
    }
  }[]
}

/**
 * What the workspace is.
 */
export interface WorkspaceStatus {
  /**
   * One of the eleven states. Error - its objects could not be applied. Failed - they were applied and do not become ready.
   */
  actualState?:
    | 'CreationRequested'
    | 'Starting'
    | 'Running'
    | 'Stopping'
    | 'Stopped'
    | 'Failed'
    | 'Error'
    | 'RestartRequested'
    | 'Terminating'
    | 'Terminated'
    | 'Unknown'
  /**
   * Where the workspace is opened in a browser.
   */
  url?: string
  /**
   * The ports that can be reached, and where.
   */
  ports?: {
    /**
     * Name of the port.
     */
    name: string
    /**
     * Number of the port.
     */
    port: number
    /**
     * Where it is reached.
     */
    url?: string
  }[]
  /**
   * What went wrong, and what can be done.
   */
  failure?: {
    /**
     * One word.
     */
    reason: string
    /**
     * The step in which it failed, with the container where it is one's - `Scheduling`, `Image of container tools`.
     */
    step?: string
    /**
     * Since when it is in this trouble.
     */
    since?: string
    /**
     * What was tried, and how long it was waited for.
     */
    tried?: string
    /**
     * The object or step that failed, in a sentence.
     */
    cause?: string
    /**
     * What can be done about it.
     */
    remedy?: string
    /**
     * What happened.
     */
    message: string
  }
  /**
   * The step that a start or stop is in. Absent while the workspace runs or is stopped.
   */
  step?: {
    /**
     * Admission, Scheduling, Volume, Sandbox, Image, InitContainer, ContainerStart, PostStart, Probes, Run, Stop or PostStop.
     */
    name: string
    /**
     * The container that it is about, where it is about one.
     */
    container?: string
    /**
     * Since when.
     */
    since: string
  }
  /**
   * A trouble that may pass, and until when it is waited for. After that the workspace is Failed.
   */
  waiting?: {
    /**
     * One word.
     */
    reason: string
    /**
     * Since when it is in this trouble.
     */
    since: string
    /**
     * When it has been waited for long enough. Absent where nothing ends the wait.
     */
    until?: string
  }
  /**
   * What the workspace still waits for.
   */
  waitingFor?: string
  /**
   * Where the workspace runs.
   */
  target?: {
    /**
     * The claim.
     */
    claimName?: string
    /**
     * The DeploymentTarget.
     */
    name?: string
    /**
     * Namespace in the target.
     */
    namespace?: string
    /**
     * API of the target.
     */
    apiURL?: string
  }
  /**
   * The variables that were frozen for the workspace. Values are nowhere but in the Secret that its containers read.
   */
  variables?: {
    /**
     * When.
     */
    frozenAt?: string
    /**
     * What its annotation `berth.dev/refresh-variables` said at that time.
     */
    refresh?: string
    /**
     * Each variable.
     */
    list?: {
      /**
       * Its name.
       */
      name: string
      /**
       * What it is for the containers.
       */
      type: 'environment' | 'file'
      /**
       * Where its value comes from.
       */
      level: 'group' | 'project' | 'user' | 'workspace'
      /**
       * The levels that have a value for it too, which is not used.
       */
      overrides?: string[]
    }[]
    /**
     * Inherited variables that were left out, and why.
     */
    leftOut?: string[]
  }
  /**
   * The devfile as it was first read, with its parents in it. It stays so until spec.devfile or spec.project says something else.
   */
  devfile?: {
    /**
     * Names what it was made of.
     */
    key: string
    /**
     * Its path in the project, where it is from there.
     */
    path?: string
    /**
     * The commit that it was read at.
     */
    commit?: string
    /**
     * The whole, as JSON.
     */
    content: string
    /**
     * The parents and plugins that went into it.
     */
    sources?: {
      /**
       * Where it is from.
       */
      name: string
      /**
       * Digest of its text.
       */
      sha256: string
    }[]
  }
  /**
   * The GitProject as it was when it was last there.
   */
  project?: {
    /**
     * Its URL.
     */
    url: string
    /**
     * Its path.
     */
    path: string
    /**
     * Its default branch, where it names one.
     */
    defaultBranch?: string
  }
  /**
   * How it is reached over SSH, and by what to know the host. Absent where the proxy takes no SSH, does not say under which address, or the class lets nobody in so. `berth ssh-config` writes it for OpenSSH.
   */
  ssh?: {
    /**
     * Its name, a dot and its namespace.
     */
    user: string
    /**
     * Host of the proxy.
     */
    host: string
    /**
     * Its port there.
     */
    port: number
    /**
     * Its public keys, each as a line of known_hosts has it behind the host. Who shows another one is not the proxy.
     */
    hostKeys: string[]
  }
  /**
   * The class settings that the workspace was created with.
   */
  class?: {
    /**
     * Name of the WorkspaceClass.
     */
    name?: string
    /**
     * Its generation at that time.
     */
    generation?: number
    /**
     * The `upgradedAt` that was acted on last.
     */
    upgradedAt?: string
    /**
     * Its spec at that time.
     */
    settings?: WorkspaceClassSpec
  }
  /**
   * What the containers have. Other wishes in spec.resources take effect at the next start, which the condition ResourcesCurrent says.
   */
  resources?: {
    /**
     * The spec.resources that were acted on last.
     */
    applied?: {
      /**
       * Name of the devfile's component.
       */
      container: string
      /**
       * What it is guaranteed.
       */
      requests?: {
        /**
         * CPU, such as `500m`.
         */
        cpu?: number | string
        /**
         * Memory, such as `2Gi`.
         */
        memory?: number | string
      }
      /**
       * What it may use.
       */
      limits?: {
        /**
         * CPU, such as `500m`.
         */
        cpu?: number | string
        /**
         * Memory, such as `2Gi`.
         */
        memory?: number | string
      }
    }[]
    /**
     * What each container has.
     */
    running?: {
      /**
       * Name of the devfile's component.
       */
      container: string
      /**
       * What it is guaranteed.
       */
      requests?: {
        /**
         * CPU, such as `500m`.
         */
        cpu?: number | string
        /**
         * Memory, such as `2Gi`.
         */
        memory?: number | string
      }
      /**
       * What it may use.
       */
      limits?: {
        /**
         * CPU, such as `500m`.
         */
        cpu?: number | string
        /**
         * Memory, such as `2Gi`.
         */
        memory?: number | string
      }
    }[]
  }
  /**
   * The `restartedAt` that was acted on last.
   */
  restartedAt?: string
  /**
   * When it was found running.
   */
  startedAt?: string
  /**
   * When it was found stopped.
   */
  stoppedAt?: string
  /**
   * Since when it was to run, whether or not it ever did.
   */
  activeSince?: string
  /**
   * Why it was stopped or terminated by itself, and when. Absent where somebody asked for it.
   */
  stoppedBecause?: string
  /**
   * What became of the postStop commands at its last stop.
   */
  postStop?: {
    /**
     * The start whose stop it was.
     */
    of: string
    /**
     * The Job in the target, as long as it is kept with its logs.
     */
    job?: string
    /**
     * Running, Succeeded or Failed.
     */
    result: 'Running' | 'Succeeded' | 'Failed'
    /**
     * Since when.
     */
    since: string
    /**
     * What happened.
     */
    message: string
  }
  /**
   * When somebody last used it. Absent as long as nobody watches.
   */
  lastActivityAt?: string
  /**
   * How it was used then - by Requests of a browser, by a Connection such as an editor's, or by SSH.
   */
  lastActivityBy?: 'Requests' | 'Connection' | 'SSH'
  /**
   * What became of keepUntil.
   */
  kept?: {
    /**
     * The keepUntil that it answers.
     */
    asked: string
    /**
     * Until when the workspace is not stopped by itself.
     */
    until: string
  }
  /**
   * When it will be stopped by itself.
   */
  willStopAt?: string
  /**
   * Why then - Idle, Schedule or MaxActiveHours.
   */
  willStopReason?: string
  /**
   * When its schedule starts it.
   */
  willStartAt?: string
  /**
   * When it will be terminated by itself.
   */
  willTerminateAt?: string
  /**
   * Why then - MaxStoppedHours or MaxLifeHours.
   */
  willTerminateReason?: string
  /**
   * Its backups, the newest first.
   */
  backups?: {
    /**
     * Its name, also that of the VolumeSnapshot or Job.
     */
    name: string
    /**
     * What it is.
     */
    kind: 'VolumeSnapshot' | 'Archive'
    /**
     * The start that it was made after, so that no stop has two.
     */
    of: string
    /**
     * How far it is.
     */
    state: 'Running' | 'Ready' | 'Failed'
    /**
     * Since when.
     */
    since: string
    /**
     * The least size of a volume that is made from it.
     */
    size?: string
    /**
     * What went wrong, and what can be done.
     */
    message?: string
  }[]
  /**
   * The backup that its volume was made from.
   */
  restoredFrom?: {
    /**
     * Its name.
     */
    name: string
    /**
     * What it is.
     */
    kind: 'VolumeSnapshot' | 'Archive'
    /**
     * The volume with the archive.
     */
    volume?: string
    /**
     * The least size that the volume needs for it.
     */
    size?: string
  }
  /**
   * When this record of a terminated workspace is deleted.
   */
  willDeleteAt?: string
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready; a condition for each step - ClassResolved, ProjectFound for one with a project, DevfileValid, TargetReady, Applied, PodAdmitted, PodScheduled, PodPrepared, PodInitialized, ContainersStarted and DeploymentReady; ProjectCloned for one with a project; GitCredentials and VariablesInherited where something asked for is not done; ClassCurrent while its class is not as it was; ScheduleValid while its schedule cannot be read; ResourcesCurrent while other resources are wished than it has; BackedUp where the last backup failed; ObjectsCurrent while it goes on as it was made before, because a change of it cannot be made; Removed from when it ends.
   */
  conditions?: Condition[]
}
