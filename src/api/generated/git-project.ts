// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * Where the repository is and who may read it.
 */
export interface GitProjectSpec {
  /**
   * URL to fetch from, `https://…`, `http://…` or `ssh://…`, without credentials in it.
   */
  url: string
  /**
   * The path by which agents and deployments name the project, such as `team-a/shop`.
   */
  path: string
  /**
   * Branch that is meant when none is named. Without it the one that HEAD of the repository names.
   */
  defaultBranch?: string
  /**
   * Secret in the same namespace. For https `username` and `password`, or `token`; `ca.crt` where the host's certificate is of an authority of its own. For ssh `ssh-privatekey` and `known_hosts`.
   */
  credentialsSecretRef?: {
    /**
     * Name of the Secret.
     */
    name: string
  }
  /**
   * private - only who has a grant. internal - every agent and every namespace of this installation. public - as internal, and fetched without credentials if none are given.
   */
  visibility?: 'private' | 'internal' | 'public'
  /**
   * Who may read a private project besides its own namespace.
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
       * Namespace of the Agent. Without it the namespace of the project.
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
       * Namespace of the service account. Without it the namespace of the project.
       */
      namespace?: string
    }[]
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
   * How often is asked for new commits, such as `20s`.
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
     * When the commit was first seen.
     */
    seenAt?: string
  }[]
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready, and PathUnique where another GitProject has or had the same path.
   */
  conditions?: Condition[]
}
