// Generated from crds/ by hack/update-crd-types.ts. Do not edit.
import type { Condition } from '../conditions.ts'

/**
 * How the agent connects and where its configuration is.
 */
export interface AgentSpec {
  /**
   * Path of the GitProject that holds `.berth/agents/<name>/config.yaml`.
   */
  configurationProject: string
  /**
   * Namespace of that GitProject, which has to grant the agent. Without it the namespace of the Agent; it is looked for nowhere else.
   */
  configurationProjectNamespace?: string
  /**
   * GitProjects that took the place of one that the agent had used under the same path, and that are meant to. `berth agent trust` writes it; without it the agent keeps what it has, and gets nothing of another project.
   */
  trustedProjects?: {
    /**
     * Path of the GitProject.
     */
    path: string
    /**
     * Its metadata.uid.
     */
    uid: string
  }[]
  /**
   * Whether namespaces may be made in the agent's cluster for claims of classes that name this agent. Default: false.
   */
  spaces?: boolean
  /**
   * Tokens with which the agent may connect. Removing one ends its connections at once.
   */
  tokens?: {
    /**
     * Name, to tell tokens apart.
     */
    name: string
    /**
     * SHA-256 of the token in hexadecimal. The token itself is kept nowhere.
     */
    sha256: string
    /**
     * What it is for, or where it is used.
     */
    description?: string
    /**
     * When it was made.
     */
    createdAt?: string
    /**
     * When it stops being accepted. Without it never.
     */
    expiresAt?: string
  }[]
}

/**
 * What is known of the agent.
 */
export interface AgentStatus {
  /**
   * The pods of the agent that are connected.
   */
  connectedPods?: {
    /**
     * The number that the pod gave itself, or one that follows from its name.
     */
    podId: string
    /**
     * Name of the pod.
     */
    name: string
    /**
     * Namespace of the pod in its cluster.
     */
    namespace?: string
    /**
     * Version of the agent.
     */
    version?: string
    /**
     * Version of the cluster that it runs in.
     */
    kubernetesVersion?: string
    /**
     * Since when it is connected.
     */
    connectedAt?: string
    /**
     * Whether it reports what it applies, as Berth's agent does and GitLab's does not; missing while that is not known.
     */
    reports?: boolean
    /**
     * The kas that it is connected to, by the name of its Lease; missing while none has it.
     */
    kas?: string
  }[]
  /**
   * The configuration that is in use.
   */
  configuration?: {
    /**
     * Commit it was read from.
     */
    commit?: string
    /**
     * File it was read from.
     */
    path?: string
    /**
     * Newer commit, whose errors these are.
     */
    rejectedCommit?: string
    /**
     * What is wrong with it; while there are any, the last good configuration stays in use.
     */
    errors?: {
      /**
       * What is wrong and how to mend it.
       */
      message: string
      /**
       * Line in the file, from 1.
       */
      line?: number
      /**
       * Column in the line, from 1.
       */
      column?: number
    }[]
  }
  /**
   * The manifest projects that the agent synchronises.
   */
  projects?: {
    /**
     * Path of the GitProject.
     */
    id: string
    /**
     * Commit that is in effect.
     */
    commit?: string
    /**
     * How many objects it has.
     */
    objects?: number
    /**
     * How many of them could not be applied, or not yet.
     */
    undone?: number
    /**
     * The worst health among them.
     */
    health?: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'
    /**
     * One word for what is wrong. NotReported says that nobody tells.
     */
    reason?: string
    /**
     * What is wrong, and what can be done about it.
     */
    message?: string
    /**
     * When the commit was last brought into effect.
     */
    syncedAt?: string
    /**
     * It is in the configuration no more; what became of its objects is in the message.
     */
    removed?: boolean
  }[]
  /**
   * The GitProject that the agent has used under each path. Another one of that path is held back until it is trusted.
   */
  knownProjects?: {
    /**
     * Path of the GitProject.
     */
    path: string
    /**
     * Its metadata.uid.
     */
    uid: string
    /**
     * The number by which the agent knows the path, if it is not that of this GitProject. It names the inventories of what came from there, so whoever is trusted after another goes on with its objects.
     */
    projectId?: string
    /**
     * Another GitProject that has the path now, and that the agent is not given.
     */
    replacedBy?: {
      /**
       * Its namespace.
       */
      namespace: string
      /**
       * Its name.
       */
      name: string
      /**
       * Its metadata.uid.
       */
      uid: string
    }
  }[]
  /**
   * What is known of the tokens. A digest opens for the Agent that had it first, and for no other; what was found stays until the digest is taken out.
   */
  tokens?: {
    /**
     * The digest, as in the spec.
     */
    sha256: string
    /**
     * Another Agent had it first. It is not accepted here, even when that Agent is gone.
     */
    copied?: boolean
  }[]
  /**
   * The generation of the spec that this status speaks of.
   */
  observedGeneration?: number
  /**
   * Ready (at least one pod is connected with a valid configuration), Connected, ConfigurationValid, and ProjectsTrusted once another GitProject has had the path of one that is in use.
   */
  conditions?: Condition[]
}
