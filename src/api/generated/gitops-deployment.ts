// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * What is deployed, where to, and how.
 */
export interface GitOpsDeploymentSpec {
  /**
   * Where the manifests are.
   */
  source: {
    /**
     * URL of the repository, or `oci://…` of an artifact in a registry. A GitProject of that URL must exist and grant access.
     */
    repoURL?: string
    /**
     * The GitProject to follow, as `namespace/name`, where several have this URL. Without it one of the own namespace, the one that it followed before, or the oldest of the one other namespace that grants access.
     */
    project?: string
    /**
     * Directory in the repository; `.` is its root. A kustomization.yaml in it is honoured, and with a Chart.yaml it is a Helm chart.
     */
    path?: string
    /**
     * Branch, tag, commit or full ref such as `refs/merge-requests/7/head`. Without it the default branch of the repository.
     */
    targetRevision?: string
    /**
     * Promotion: the commit comes from another GitOpsDeployment of the same repository and namespace, which has it in effect and in good health. Of type automated it is taken by itself, where no sync window forbids it; of type manual when a GitOpsDeploymentSyncRun names it, as `berth promote` does. Instead of targetRevision and semver.
     */
    follow?: {
      /**
       * Name of the GitOpsDeployment whose commits are taken.
       */
      deployment: string
      /**
       * How long it has to be in good health with a commit before that is taken, such as `10m`. Default: 0s.
       */
      healthyFor?: string
    }
    /**
     * A range such as `>=1.2.0 <2.0.0` or `1.x`; the highest tag in it is deployed. Instead of targetRevision.
     */
    semver?: string
    /**
     * A published Helm chart, instead of repoURL and path. A GitProject of the URL of its repository must exist and grant access.
     */
    chart?: {
      /**
       * URL of a repository of charts, as `helm repo add` takes it.
       */
      repository?: string
      /**
       * URL of charts in a registry, such as `oci://registry.example.com/charts`, without the name of the chart.
       */
      oci?: string
      /**
       * Name of the chart.
       */
      name: string
      /**
       * A version such as `6.5.0`, a range such as `^6.5` or `>=1.2.0 <2.0.0`, of which the highest is deployed, or a digest (`sha256:…`). Without it the latest that is no pre-release.
       */
      version?: string
    }
    /**
     * How the Helm chart in the path is rendered, as `helm template` does. Values win over those from elsewhere, and these over files.
     */
    helm?: {
      /**
       * Name of the release. Without it the name of this object.
       */
      releaseName?: string
      /**
       * Files of the repository, or of a published chart, with values, written from the chart's directory, such as `values-prod.yaml` or `../values/prod.yaml`. Later ones win.
       */
      valueFiles?: string[]
      /**
       * ConfigMaps and Secrets with values in the namespace of this object, read with the rights of its service account. Later ones win.
       */
      valuesFrom?: {
        /**
         * ConfigMap or Secret.
         */
        kind: 'ConfigMap' | 'Secret'
        /**
         * Name.
         */
        name: string
        /**
         * Key that holds the values, as YAML. Default: values.yaml.
         */
        valuesKey?: string
        /**
         * Whether it, or the key, may be missing. Default: false.
         */
        optional?: boolean
      }[]
      /**
       * Values, as in a file with values.
       */
      values?: Record<string, unknown>
      /**
       * Whether the custom resource definitions in the directory `crds` of the chart are left out. Default: false.
       */
      skipCrds?: boolean
    }
  }
  /**
   * Where it is deployed to. Without it, to the namespace of this object.
   */
  destination?: {
    /**
     * Name of a GitOpsDeploymentManagedEnvironment in the same namespace, or of the Environment that one was made from. Empty means the namespace of this object.
     */
    environment?: string
    /**
     * Namespace for objects that do not name one.
     */
    namespace?: string
  }
  /**
   * Details of how it is applied.
   */
  syncPolicy?: {
    /**
     * `CreateNamespace=true` makes the destination namespace when it is missing. `PruneLast=true` deletes what left the repository only when all that is in it is healthy.
     */
    syncOptions?: ('CreateNamespace=true' | 'CreateNamespace=false' | 'PruneLast=true' | 'PruneLast=false')[]
  }
  /**
   * automated - each new commit is applied by itself. manual - only a GitOpsDeploymentSyncRun applies.
   */
  type: 'automated' | 'manual'
  /**
   * Service account in the namespace of this object as which is applied when the destination is that namespace. Without it `default`.
   */
  serviceAccountName?: string
  /**
   * Whether objects that left the repository are deleted. Default: true.
   */
  prune?: boolean
  /**
   * Whether nothing is applied for the time being. Default: false.
   */
  suspend?: boolean
  /**
   * How often the objects in the cluster are compared with the repository even when nothing was pushed, such as `10m`. Default: 10m.
   */
  interval?: string
  /**
   * Whether an object is deleted and made anew when a field that cannot be changed has changed in the repository. Only after a dry run has shown that the new object would be accepted. Default: false.
   */
  force?: boolean
  /**
   * Repair - what was changed in the cluster by hand is set back at once. Detect - it is only told in the status. Default: Repair.
   */
  drift?: 'Repair' | 'Detect'
  /**
   * Fields that others may change in the cluster; they are set when an object is created and then left alone.
   */
  ignore?: {
    /**
     * JSON pointers (RFC 6901) such as `/spec/replicas`.
     */
    paths: string[]
    /**
     * Which objects; what is left out matches all.
     */
    target?: {
      /**
       * API group; `""` is the core group.
       */
      group?: string
      /**
       * Kind.
       */
      kind?: string
      /**
       * Namespace.
       */
      namespace?: string
      /**
       * Name.
       */
      name?: string
      /**
       * Label selector in the API's own syntax, such as `app=web,tier in (a,b)`.
       */
      labelSelector?: string
    }
  }[]
  /**
   * Replaces `${name}` and `${name:=default}` in the manifests. An object annotated `gitops.berth.dev/variables` with value `disabled` is left as it is.
   */
  variables?: {
    /**
     * Values by name. They win over those of `from`.
     */
    values?: Record<string, string>
    /**
     * ConfigMaps and Secrets in the namespace of this object, read with the rights of its service account. Later ones win.
     */
    from?: {
      /**
       * ConfigMap or Secret.
       */
      kind: 'ConfigMap' | 'Secret'
      /**
       * Name.
       */
      name: string
      /**
       * Whether it may be missing. Default: false.
       */
      optional?: boolean
    }[]
    /**
     * Whether a name without value and default is an error; otherwise it becomes empty. Default: true.
     */
    strict?: boolean
  }
  /**
   * Decrypts what SOPS has encrypted in the repository, in memory, before it is applied.
   */
  decryption?: {
    /**
     * Who encrypted it.
     */
    provider: 'sops'
    /**
     * The Secret with the private keys, in the namespace of this object, read with the rights of its service account. Fields named `*.agekey` hold identities of age, one a line, and `*.asc` keys of PGP.
     */
    secretRef: {
      /**
       * Name.
       */
      name: string
    }
  }
  /**
   * When deleting what left the repository waits for a confirmation.
   */
  pruneGuard?: {
    /**
     * More objects than this at once wait. Default: 100.
     */
    maxObjects?: number
    /**
     * More than this share of the objects at once waits, in percent. Counts from ten objects on. Default: 50.
     */
    maxPercent?: number
    /**
     * Whether a path that describes no object any more deletes everything. Default: false.
     */
    allowEmpty?: boolean
  }
  /**
   * What becomes of the objects when this GitOpsDeployment is deleted. Delete - they are deleted. Wait - they are deleted, and gone before this is. Orphan - they stay. Without it, Wait if the finalizer `resources-finalizer.managed-gitops.redhat.com` (or Argo CD's, `resources-finalizer.argocd.argoproj.io`) is set, else Orphan.
   */
  deletionPolicy?: 'Delete' | 'Wait' | 'Orphan'
  /**
   * GitOpsDeployments that must be Ready, at their current generation, before this one is applied.
   */
  dependsOn?: {
    /**
     * Name of a GitOpsDeployment.
     */
    name: string
    /**
     * Its namespace; the own one without it. Another one must be allowed by the operator.
     */
    namespace?: string
  }[]
  /**
   * How objects of a kind do, as CEL expressions over `object`. The first of failed, progressing, healthy that is true decides.
   */
  healthRules?: {
    /**
     * API group; empty for the core group.
     */
    group: string
    /**
     * Kind.
     */
    kind: string
    /**
     * True when the object is as it should be, such as `object.status.phase == 'Ready'`.
     */
    healthy: string
    /**
     * True while it is on its way. Without it, whatever is neither healthy nor failed.
     */
    progressing?: string
    /**
     * True when it will not recover by itself.
     */
    failed?: string
  }[]
  /**
   * When new commits may be applied. Without any, always. Deny wins over Allow.
   */
  syncWindows?: {
    /**
     * Allow or Deny.
     */
    kind: 'Allow' | 'Deny'
    /**
     * When the window opens, as a cron expression with five fields.
     */
    schedule: string
    /**
     * How long it stays open, such as `2h`.
     */
    duration: string
    /**
     * IANA name such as `Europe/Berlin`; UTC without it.
     */
    timeZone?: string
  }[]
  /**
   * Where it is told how each commit ended, and how it does since.
   */
  notifications?: {
    /**
     * Webhook - a signed POST of JSON, or of `template`. Slack, Teams, Mattermost - a message by an incoming webhook. GitHub, GitLab, Gitea - the commit status on the Git host.
     */
    kind: 'Webhook' | 'Slack' | 'Teams' | 'Mattermost' | 'GitHub' | 'GitLab' | 'Gitea'
    /**
     * What is told here. Succeeded - a commit is in effect and healthy. Failed - it could not be applied, or is not healthy. Degraded - what had succeeded fell ill. Recovered - it is healthy after either. What a commit that succeeds also ends is told once, as the first of these that is wanted. Without any, Succeeded and Failed.
     */
    outcomes?: ('Succeeded' | 'Failed' | 'Degraded' | 'Recovered')[]
    /**
     * The body of a Webhook, in place of its usual one.
     */
    template?: {
      /**
       * What the body is, and by which rules values are put into it. Default: application/json.
       */
      contentType?: 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain'
      /**
       * Text with `${name}` where a value is to stand, in JSON and forms within values only; `$${name}` stands for `${name}` itself. Names - deployment, namespace, name, repository, revision, path, result, reason, message, author, subject, at, summary.
       */
      body: string
    }
    /**
     * Secret in this namespace, read with the rights of the service account. Webhook - `url` and `secret`; with `template` - `url`, and if wanted `secret`, and `headers` with one header a line; Slack, Teams, Mattermost - `url`; Git hosts - `token`, and `url` of their API if it is not the usual one of the host of repoURL.
     */
    secretRef: {
      /**
       * Name of the Secret.
       */
      name: string
    }
  }[]
}

/**
 * What is in effect.
 */
export interface GitOpsDeploymentStatus {
  /**
   * Whether the cluster is as the repository says.
   */
  sync?: {
    /**
     * Unknown, Synced or OutOfSync.
     */
    status: 'Unknown' | 'Synced' | 'OutOfSync'
    /**
     * The commit that is in effect.
     */
    revision?: string
  }
  /**
   * How the deployed objects do.
   */
  health?: {
    /**
     * The worst health among the objects.
     */
    status?: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'
    /**
     * Which object it is, and why.
     */
    message?: string
  }
  /**
   * The deployed objects.
   */
  resources?: {
    /**
     * API group; empty for the core group.
     */
    group?: string
    /**
     * API version.
     */
    version: string
    /**
     * Kind.
     */
    kind: string
    /**
     * Namespace; empty for cluster-scoped objects.
     */
    namespace?: string
    /**
     * Name.
     */
    name: string
    /**
     * Whether the object is as the repository says.
     */
    status?: 'Unknown' | 'Synced' | 'OutOfSync'
    /**
     * When in a sync the object runs, where it is a hook.
     */
    hook?: 'PreSync' | 'Sync' | 'PostSync' | 'SyncFail'
    /**
     * Fields that differ from the repository, as JSON pointers.
     */
    drift?: string[]
    /**
     * What was done with it, or why not.
     */
    message?: string
    /**
     * How the object does.
     */
    health?: {
      /**
       * Health of the object.
       */
      status?: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'
      /**
       * Why.
       */
      message?: string
    }
  }[]
  /**
   * The source and destination that `sync` and `health` speak of.
   */
  reconciledState?: {
    /**
     * Source that was applied.
     */
    source: {
      /**
       * Directory.
       */
      path: string
      /**
       * Repository.
       */
      repoURL: string
      /**
       * The GitProject, as `namespace/name`.
       */
      project?: string
      /**
       * Branch, tag or commit that was asked for.
       */
      branch: string
    }
    /**
     * Destination that was applied to.
     */
    destination: {
      /**
       * Managed environment; empty for the own namespace.
       */
      name: string
      /**
       * Namespace.
       */
      namespace: string
    }
  }
  /**
   * Where the list of everything that was applied is kept, so that it can be pruned.
   */
  inventory?: {
    /**
     * Namespace of the list, in the destination cluster.
     */
    namespace?: string
    /**
     * Name of the list.
     */
    name: string
    /**
     * How many objects are in it.
     */
    count?: number
  }
  /**
   * A deletion that waits for a confirmation.
   */
  pendingPrune?: {
    /**
     * The commit whose deletions wait. Annotate this object with `gitops.berth.dev/confirm-prune` and this value to let them happen.
     */
    revision: string
    /**
     * How many objects would be deleted.
     */
    count: number
    /**
     * Which guard holds them.
     */
    reason: string
    /**
     * Which objects, and why.
     */
    message?: string
  }
  /**
   * Commits that were in effect as a whole, the newest first.
   */
  history?: {
    /**
     * Commit.
     */
    revision: string
    /**
     * When it was in effect.
     */
    at: string
    /**
     * Directory.
     */
    path?: string
    /**
     * First line of the commit's message; of a chart its name and version.
     */
    subject?: string
  }[]
  /**
   * When the next sync window opens, while one is waited for.
   */
  nextWindow?: string
  /**
   * The GitOpsDeploymentSyncRun that was carried out last.
   */
  lastSyncRun?: {
    /**
     * UID of the run.
     */
    uid: string
    /**
     * Succeeded or Failed.
     */
    result: 'Succeeded' | 'Failed'
    /**
     * The commit that was applied.
     */
    revision?: string
    /**
     * Why it failed.
     */
    message?: string
  }
  /**
   * What came of the commit that was tried last. Once a commit succeeded, its health alone tells how it does.
   */
  lastOutcome?: {
    /**
     * Commit.
     */
    revision: string
    /**
     * Succeeded - in effect and healthy. Failed - it could not be applied, or is not healthy.
     */
    result: 'Succeeded' | 'Failed'
    /**
     * Who wrote the commit.
     */
    author?: string
    /**
     * First line of its message.
     */
    subject?: string
  }
  /**
   * The last time that objects were Degraded after their commit had succeeded. Another one within ten minutes is told when it lasts longer than these.
   */
  lastTrouble?: {
    /**
     * Commit.
     */
    revision: string
    /**
     * When that was seen.
     */
    since: string
    /**
     * When all objects were healthy again.
     */
    until?: string
  }
  /**
   * The commit, and the generation of the spec, of which nothing was left to do, or which somebody asked for. Neither sync windows nor dependencies hold it back any more.
   */
  admitted?: {
    /**
     * The commit.
     */
    revision: string
    /**
     * The generation of the spec.
     */
    generation: number
    /**
     * When that was first so.
     */
    at?: string
  }
  /**
   * The commit that was taken from the deployment that `spec.source.follow` names, and the one that would be next.
   */
  promotion?: {
    /**
     * The commit that was taken last, or gone back to.
     */
    revision?: string
    /**
     * When that was.
     */
    at?: string
    /**
     * Who asked for it by a GitOpsDeploymentSyncRun; nobody where it came by itself.
     */
    by?: string
    /**
     * Name of that GitOpsDeploymentSyncRun.
     */
    run?: string
    /**
     * Commits that a person went on or back from, the newest first. They are not taken again by themselves.
     */
    left?: string[]
    /**
     * What is not taken, and why.
     */
    next?: {
      /**
       * Commit.
       */
      revision?: string
      /**
       * In one word.
       */
      reason: string
      /**
       * What it waits for, or who decides.
       */
      message: string
    }
  }
  /**
   * The value of the annotation `gitops.berth.dev/sync` that was answered last; another value asks for a synchronisation now.
   */
  lastHandledSync?: string
  /**
   * When something was applied last.
   */
  lastSyncTime?: string
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, SyncError, ErrorOccurred, Fight and Contested.
   */
  conditions?: Condition[]
}
