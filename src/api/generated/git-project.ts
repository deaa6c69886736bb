// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * Where the repository is and who may read it.
 */
export interface GitProjectSpec {
  /**
   * URL to fetch from, `https://…`, `http://…` or `ssh://…`, without credentials in it. For artifacts of a registry `oci://…`, for Helm charts what `helm repo add` takes.
   */
  url: string
  /**
   * What is at the URL. git - a repository. helm - a repository of Helm charts with an index.yaml. oci - artifacts or charts in a registry. Without it oci for `oci://…`, otherwise git.
   */
  type?: 'git' | 'helm' | 'oci'
  /**
   * The path by which agents name the project, such as `team-a/shop`. It begins with the project's namespace, or with what the ConfigMap `berth-project-paths` lists for that.
   */
  path: string
  /**
   * Branch that is meant when none is named. Without it the one that HEAD of the repository names.
   */
  defaultBranch?: string
  /**
   * Secret in the same namespace. For https and registries `username` and `password`, or `token`; for registries also a Secret of type kubernetes.io/dockerconfigjson; `ca.crt` where the host's certificate is of an authority of its own. For ssh `ssh-privatekey` and `known_hosts`.
   */
  credentialsSecretRef?: {
    /**
     * Name of the Secret.
     */
    name: string
  }
  /**
   * private - only who has a grant. internal, public - every namespace of this installation may read devfiles in it. What an agent or a deployment brings about in a cluster needs a grant in any case. Default: private.
   */
  visibility?: 'private' | 'internal' | 'public'
  /**
   * Whose agents and deployments may bring the project about, besides those of its own namespace; for a private one also whose workspaces may read devfiles in it.
   */
  grants?: {
    /**
     * Agents that may read it.
     */
    agents?: {
      /**
       * Name of the Agent; `*` means each one of the namespace.
       */
      name: string
      /**
       * Namespace of the Agent; `*` means all. Without it the namespace of the project.
       */
      namespace?: string
    }[]
    /**
     * Service accounts that may read it, for deployments and workspaces.
     */
    serviceAccounts?: {
      /**
       * Name of the service account; `*` means each one of the namespace.
       */
      name: string
      /**
       * Namespace of the service account; `*` means all. Without it the namespace of the project.
       */
      namespace?: string
    }[]
  }
  /**
   * Commits, or artifacts of a registry, are served only when they are signed by one of these keys. One that is not is refused, and the one before stays in effect.
   */
  verify?: {
    /**
     * HEAD - the commit that is served. EveryCommit - also each one since the last that was served, merges and what they bring in included. Default: HEAD.
     */
    mode?: 'HEAD' | 'EveryCommit'
    /**
     * Secret in the same namespace with the public keys - `allowed_signers` as OpenSSH has it, `*.pub` with keys of SSH, `*.asc` with armored keys of PGP; for artifacts `*.pub`, each with one key of cosign.
     */
    secretRef: {
      /**
       * Name of the Secret.
       */
      name: string
    }
  }
  /**
   * Secret in the same namespace whose key `secret` signs the webhooks of the Git server.
   */
  webhookSecretRef?: {
    /**
     * Name of the Secret.
     */
    name: string
  }
  /**
   * How often is asked for new commits, such as `20s`; less often while the namespace asks more than five times a second. Default: 20s.
   */
  pollInterval?: string
}

/**
 * What the last poll said.
 */
export interface GitProjectStatus {
  /**
   * The default branch that is in use.
   */
  defaultBranch?: string
  /**
   * The commits last seen, by ref.
   */
  refs?: {
    /**
     * Full name of the ref, such as `refs/heads/main`.
     */
    name: string
    /**
     * Commit.
     */
    commit: string
    /**
     * Who signed the commit, where `spec.verify` has it asked - the principal or holder, and the key.
     */
    signer?: string
    /**
     * When the commit was first seen.
     */
    seenAt?: string
  }[]
  /**
   * Where `spec.verify` is set, which commit or artifact was given out last to those who follow a revision.
   */
  verified?: {
    /**
     * What is followed, such as `branch main` or `tag in the range 1.x`.
     */
    revision: string
    /**
     * Full name of the ref, such as `refs/tags/v1.2.0`; none of a commit by its id.
     */
    ref?: string
    /**
     * Commit.
     */
    commit: string
    /**
     * Who signed it.
     */
    signer: string
    /**
     * When it was given out, or was followed last, to the day.
     */
    seenAt: string
  }[]
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, and PathUnique where the path is, or was, not the project's alone.
   */
  conditions?: Condition[]
}
