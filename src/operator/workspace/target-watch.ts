import { type Cache, createCaches, type Kube, kubeFromSecret, type Reach } from '../../adapters/kube/index.ts'
import {
  type Deployment,
  Deployments,
  DeploymentTargets,
  type KubeObject,
  labels,
  type Pod,
  Pods,
  type Ref,
  refOf,
  type Workspace,
} from '../../api/index.ts'
import type { Clock, Log } from '../../std/index.ts'
import { type CloserLook, createCloserLook } from './closer-look.ts'
import type { Target } from './target.ts'

/** One target as it is seen with its own credentials. */
export interface Connection {
  kube: Kube
  deployments: Cache<Deployment>
  pods: Cache<Pod>
  closer: CloserLook
  /** Until the first lists are in, the caches say nothing. */
  isReady(): boolean
  /** Why they are not in yet. */
  why(): string
}

/** Watches the objects of workspaces where they run: one watch per kind and target, however many workspaces share it. */
export interface TargetWatch {
  /** Whom to wake when something changes; everything is closed when the signal aborts. */
  begin(wake: (ref: Ref) => void, signal: AbortSignal): void
  /** The connection for this workspace. It stays open until the workspace is released or uses another. */
  of(workspace: Workspace, target: Target): Connection
  release(workspace: Workspace): void
}

interface Open extends Connection {
  users: Map<string, Ref>
  close(): void
}

/** Index of pods by the UID of their workspace. */
export const BY_WORKSPACE = 'workspace'
const HAS_UID = labels.workspaceUid

interface Tools {
  clock: Clock
  log: Log
  /** Where targets may lead; everywhere without it. */
  reach?: Reach | undefined
}

export function createTargetWatch(tools: Tools): TargetWatch {
  const open = new Map<string, Open>()
  const using = new Map<string, string>()
  const bell: { wake: (ref: Ref) => void } = { wake: () => undefined }

  const leave = (uid: string) => {
    const key = using.get(uid)
    using.delete(uid)
    const connection = key === undefined ? undefined : open.get(key)
    connection?.users.delete(uid)
    connection?.closer.turnAway(uid)
    if (key === undefined || !connection || connection.users.size > 0) return
    open.delete(key)
    connection.close()
  }

  return {
    begin(wake, signal) {
      bell.wake = wake
      signal.addEventListener('abort', () => [...using.keys()].forEach(leave), { once: true })
    },
    of(workspace, target) {
      const uid = workspace.metadata.uid ?? ''
      // Other credentials are another connection: the old token may be about to end.
      const key = [target.apiURL, target.namespace, target.version].join(' ')
      if (using.get(uid) !== key) leave(uid)
      const connection = open.get(key) ?? connectTo(target, tools, bell)
      open.set(key, connection)
      using.set(uid, key)
      connection.users.set(uid, refOf(workspace))
      return connection
    },
    release: ({ metadata }) => leave(metadata.uid ?? ''),
  }
}

function connectTo(target: Target, { clock, log, reach }: Tools, bell: { wake: (ref: Ref) => void }): Open {
  const { apiURL, namespace, kubeconfig, skipTLSVerify } = target
  const kube = kubeFromSecret(kubeconfig, {
    server: apiURL,
    insecureSkipTLSVerify: skipTLSVerify,
    clock,
    reach,
    subject: { object: `${DeploymentTargets.kind} ${target.name}`, field: 'spec.kubernetesCredentials.apiURL' },
  })
  const caches = createCaches({ kube, clock, log: log.with({ target: target.name }) })
  const deployments = caches.of(Deployments, { namespace, labels: HAS_UID })
  const pods = caches.of(Pods, {
    namespace,
    labels: HAS_UID,
    indexes: { [BY_WORKSPACE]: ({ metadata }) => [metadata.labels?.[HAS_UID] ?? ''] },
  })
  const users = new Map<string, Ref>()
  const wakeOwner = (now: KubeObject | undefined, before: KubeObject | undefined) => {
    const ref = users.get((now ?? before)?.metadata.labels?.[HAS_UID] ?? '')
    if (ref) bell.wake(ref)
  }
  deployments.onChange(wakeOwner)
  pods.onChange(wakeOwner)
  const closer = createCloserLook({
    kube,
    clock,
    log: log.with({ target: target.name }),
    namespace,
    pods,
    wake: (uid) => {
      const ref = users.get(uid)
      if (ref) bell.wake(ref)
    },
  })
  const stopping = new AbortController()
  caches.ready(stopping.signal).then(
    () => {
      for (const ref of users.values()) bell.wake(ref)
    },
    () => undefined,
  )
  return {
    kube: caches.kube,
    deployments,
    pods,
    closer,
    users,
    isReady: () => caches.waitingFor().length === 0,
    why: () => caches.waitingFor()[0]?.why ?? '',
    close() {
      stopping.abort()
      void Promise.all([caches.stop(), closer.close()]).then(() => kube.close())
    },
  }
}
