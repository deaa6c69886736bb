import type { CommitLine, GitAccess, Revision, TreeFile } from '../../adapters/git/index.ts'
import type { CallOptions, Duplex } from '../../adapters/grpc/index.ts'
import type { ConfigurationMistake } from '../../agentcfg/index.ts'
import type { Ref } from '../../api/index.ts'
import type { AgentMeta, ConfigurationFile, ConnectedAgentInfo, GetConnectedAgentsRequest } from '../../rpc/index.ts'
import type { Failure } from '../../std/index.ts'
import type { Project } from '../projects/project.ts'
import type { FileTree } from '../projects/tree.ts'

/** A caller whose identity has been proved. */
export interface Caller {
  readonly kind: 'agent' | 'service-account'
  readonly namespace: string
  /** `undefined`: whichever of the namespace; an operator asks for a namespace as a whole. */
  readonly name: string | undefined
  /** The operator asks for it. */
  readonly isVouchedFor?: boolean
}

/** The credentials of a caller, and the project that it asks for. */
export interface AccessRequest {
  authorization: string | undefined
  /** On whose behalf an operator asks. */
  namespace: string | undefined
  serviceAccount: string | undefined
  /** Path of the project. */
  path: string
  /** Its uid, when no other of that path will do. */
  projectUid: string | undefined
  /** The address from which it is shown. */
  peer: string
}

/** The right to read one project, while it lasts. */
export interface Admission {
  readonly caller: Caller
  readonly project: Project
  /** Proves the right again; throws when it is gone. Asked before every poll and every delivery. */
  renew(): Promise<void>
  /** Aborts at the moment of a revocation (its reason is a `Failure`) or when the project is another now (its reason is `moved`). */
  readonly ended: AbortSignal
  close(): void
}

/** The reason of `ended` when the caller just has to ask again. */
export const moved = 'moved'

/** A GitProject, and the path under which an agent has asked for it. */
export interface UsedProject {
  readonly path: string
  readonly uid: string
}

/** Told when an agent has been let in to a project. */
export type OnUsed = (agent: Ref, used: UsedProject) => void

/** While another project stands behind a path than the one that the agent knows, it waits. */
export interface TrustWait {
  signal: AbortSignal
  /** Called before it is waited for, with what is to be said of it. */
  onUntrusted(caller: Caller, why: Failure): void
  /** Told of a caller that has proved who it is, and may not read the project. */
  onRefused?(caller: Caller, why: Failure): void
}

export interface ProjectGate {
  /** `undefined` when the signal aborts while the caller waits. */
  admit(claim: AccessRequest, wait: TrustWait): Promise<Admission | undefined>
  /** Admits the agent itself, wherever it is connected, for work of kas on its account; throws when it may not read the project. */
  admitAgent(agent: Ref & { namespace: string }, path: string): Admission
}

/** The right to have tunnels open, while it lasts. */
export interface TunnelPass {
  /** The number by which the wire knows the side that opens them. */
  readonly id: bigint
  /** Tunnels at once, where that is not what agents may have. */
  readonly most?: number
  /** Aborts at the moment of a revocation; its reason is a `Failure`. */
  readonly ended: AbortSignal
  close(): void
}

/** An agent that has shown a token, while that is valid: until a revocation, an expiry or the deletion of the Agent. */
export interface AgentPass extends TunnelPass {
  readonly agent: Ref & { namespace: string }
  readonly uid: string
}

export interface WorkspaceGate {
  /** Throws for whatever is no pod of a workspace that runs. `workspace` is what the pod says, as `namespace/name`. */
  admit(claim: { workspace: string; authorization: string | undefined; peer: string }): Promise<TunnelPass>
}

/** Throws `unauthorized` unless the token is one that could be let in. Asked before anything of a call is read. */
export type CheckToken = (authorization: string | undefined, peer: string) => void | Promise<void>

export interface AgentGate {
  /** Throws `unauthorized` for whatever is no token of an agent. */
  admit(authorization: string | undefined): AgentPass
}

/** Keeps the connected pods of each agent. */
export interface AgentRoll {
  /**
   * A stream of a pod begins; the answer tells its end, and whether it was the pod that ended it. `reports`: it is Berth's, and will say
   * what it applies.
   */
  enter(
    pass: AgentPass,
    meta: AgentMeta | undefined,
    of?: { reports?: boolean | undefined; peer?: string },
  ): (hungUp: boolean) => void
  /** A tunnel is open from this address; the answer tells its end. A pod that has tunnels is there, whatever else has not come back. */
  tunnel(pass: AgentPass, peer: string): () => void
}

/** What became of the request of an agent that does not report: which commit it has, or why it gets none. */
export interface ServedProject {
  /** As the agent asked for it. */
  readonly path: string
  /** `undefined` while the repository is empty. */
  readonly commit?: string | undefined
  readonly failure?: Failure
}

export type OnServed = (agent: Ref, served: ServedProject) => void

/** Knows which kas are alive. */
export interface Presence {
  /** The name of this one in the status of Agents; it has another name after each start. */
  readonly self: string
  /** True when another one of that name lives, or may live. */
  isAlive(kas: string): boolean
  /** The number of others that live. */
  readonly others: number
  /** Told when others have come or gone. */
  onChange(listener: () => void): void
}

/** The state of an agent's configuration file. */
export type ConfigurationFinding =
  /** `path` is missing when there is no file: then the configuration is empty. */
  | {
      readonly commit: string
      readonly path?: string
      readonly mistakes: readonly ConfigurationMistake[]
      /** Paths of the manifest projects in it, where they are known. */
      readonly projects?: readonly string[]
    }
  | { readonly empty: true }
  /** `at`: it is for what stands in this file. */
  | { readonly failure: Failure; readonly at?: { readonly commit: string; readonly path?: string } }

export interface ConfigurationFindings {
  report(agent: Ref, finding: ConfigurationFinding): void
}

/** The files of one commit; fetched when first asked for, once for everybody. */
export interface CommitSnapshot {
  readonly commit: string
  /** Full name of the ref; `undefined` for a commit that was asked for by its id. */
  readonly refName: string | undefined
  /** Who signed it, where the project has it asked. */
  readonly signer?: string | undefined
  /** True once the files are in the mirror. */
  readonly isFetched: boolean
  tree(): Promise<FileTree<TreeFile>>
  /** The commit that was listed before this one, if any was. */
  readonly earlier: Listed | undefined
  read(files: readonly TreeFile[], signal: AbortSignal): Promise<Uint8Array[]>
  /** Who wrote it, and its subject; `undefined` where that cannot be read: for want of it nothing waits. */
  line(): Promise<CommitLine | undefined>
}

/** A commit and its files. */
export interface Listed {
  readonly commit: string
  readonly tree: FileTree<TreeFile>
}

/** The result of a poll. `refused`: why a newer commit is not served; the snapshot is the one before, which stays in effect. */
export type PollSighting = { snapshot: CommitSnapshot; refused?: Failure | undefined } | { empty: true } | { failure: Failure }

export interface PollSubscription {
  /** The first sighting that is not `seen`, at once if it is known and fresh. `undefined` when the signal aborts first. */
  next(seen: PollSighting | undefined, signal: AbortSignal): Promise<PollSighting | undefined>
  close(): void
}

export interface PollOutcome {
  /** Everybody whose poll it was. */
  projects: Project[]
  revision: Revision
  sighting: PollSighting
  /** Another one than the last of this poll. */
  isNews: boolean
  /** Why a commit is refused, the first time that it is. */
  refused?: Failure | undefined
  /** When a webhook or somebody said that there might be something, or the poll began. Milliseconds since 1970. */
  since: number
}

/** Somebody who follows a repository. */
export interface PollSubscriber {
  /** Of their namespace's share it is looked at. */
  readonly caller: Pick<Caller, 'namespace'>
  /** Asked before each poll: who fails is let go. */
  renew(): Promise<void>
}

export interface Polls {
  /** Joins the poll of this repository, ref and credential, or starts it. */
  follow(project: Project, revision: Revision, by: PollSubscriber): PollSubscription
  /** Polls now whatever is followed of this project, or of it what may mean that ref; tells how many polls that are. */
  poke(project: Ref, ref?: string): number
  onOutcome(listener: (outcome: PollOutcome) => void): void
  /** Work that waits until fewer git processes run. */
  readonly waiting: number
  /** What each poll found last. */
  readonly sightings: PollSighting[]
  stop(): Promise<void>
}

/** Secrets as kas needs them. Each throws a `Failure` with a reason that users understand. */
export interface Credentials {
  forGit(project: Project): Promise<GitAccess>
  /** Changes whenever the Secret of `forGit` does; `undefined` when there is none, or it cannot be read. Never throws. */
  versionOf(project: Project): Promise<string | undefined>
  forWebhooks(project: Project): Promise<string>
  /** The public keys by which the commits of the project may be signed, by the names of their files. */
  forCommits(project: Project): Promise<{ files: Map<string, string>; version: string; secret: string }>
}

/** Access rules decide who may reach the cluster of an agent: they come from its last good file. */
export interface AgentConfigurations {
  /** Reads them when nobody has asked for a while. `undefined`: there are none, or they cannot be read. */
  of(agent: Ref): Promise<ConfigurationFile | undefined>
  /** `agent` is the one whose rules have changed. */
  onChange(listener: (agent: Ref) => void): () => void
}

/** The pods of agents that are connected, to whichever kas; `silent` are addresses of kas that did not answer. */
export type Census = (
  wanted: Pick<GetConnectedAgentsRequest, 'request'>,
  signal: AbortSignal,
) => Promise<{ agents: ConnectedAgentInfo[]; silent: string[] }>

/** Calls to agents, wherever they are connected. */
export interface Router {
  /** Calls the method, `/service/method`. Where no agent of that number connects in time it fails with reason `AgentNotConnected`. */
  open(agentId: bigint, path: string, options: CallOptions): Promise<Duplex<Uint8Array, Uint8Array>>
}
