import { createHash } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import type { AgentStatus, Ref } from '../../api/index.ts'
import { type AgentMeta, AgentMetaSchema } from '../../rpc/index.ts'

/** A pod of an agent that is there. */
export interface AgentPod {
  /** The number it gave itself; else one that follows from its name. */
  readonly podId: string
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly kubernetesVersion: string
  /** Milliseconds since the epoch. */
  readonly connectedAt: number
  /** Whether it says what it applies, as Berth's do; `undefined` until it has asked for its configuration. */
  readonly reports?: boolean | undefined
  /** The pod's own description, cut to size. */
  readonly meta: AgentMeta | undefined
}

/** The agent that pods belong to. */
export interface RegisteredAgent {
  readonly agent: Ref & { namespace: string }
  readonly uid: string
  readonly id: bigint
}

export function podFrom(uid: string, meta: AgentMeta | undefined, podId: bigint | undefined, now: number): AgentPod {
  const name = clean(meta?.podName, 253) || 'unnamed'
  const namespace = clean(meta?.podNamespace, 63)
  return {
    podId: podId === undefined ? derived(uid, namespace, name) : String(podId),
    name,
    namespace,
    version: clean(meta?.version, 64),
    kubernetesVersion: clean(meta?.kubernetesVersion?.gitVersion, 64),
    connectedAt: now,
    meta: meta && cleanMeta(meta),
  }
}

/** As it stands in the status of its Agent. */
export function podShown(
  uid: string,
  { podId, name, namespace, version, kubernetesVersion, reports }: NonNullable<AgentStatus['connectedPods']>[number],
  now: number,
): AgentPod {
  const ofPod = { podName: name, podNamespace: namespace ?? '', version: version ?? '' }
  const meta = create(AgentMetaSchema, { ...ofPod, kubernetesVersion: { gitVersion: kubernetesVersion ?? '' } })
  return { ...podFrom(uid, meta, undefined, now), podId, reports }
}

/** It is kept, and shown to others. */
function cleanMeta({ version, commitId, podNamespace, podName, kubernetesVersion }: AgentMeta): AgentMeta {
  const { major, minor, gitVersion, platform } = kubernetesVersion ?? {}
  const cut = (text: string | undefined) => clean(text, 64)
  return create(AgentMetaSchema, {
    version: cut(version),
    commitId: cut(commitId),
    podNamespace: cut(podNamespace),
    podName: clean(podName, 253),
    ...(kubernetesVersion && {
      kubernetesVersion: { major: cut(major), minor: cut(minor), gitVersion: cut(gitVersion), platform: cut(platform) },
    }),
  })
}

/** Texts of agents end in terminals, so they are reduced to printable ASCII. */
export const clean = (text: string | undefined, most: number): string =>
  (text ?? '')
    .slice(0, 4 * most)
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, most)

/** The same after kas has started anew, and in every kas. */
const derived = (uid: string, namespace: string, name: string): string =>
  String(createHash('sha256').update(`${uid}/${namespace}/${name}`).digest().readUIntBE(0, 6))

/** True when the number is not the pod's own. */
export const isDerived = (uid: string, { podId, namespace, name }: Pick<AgentPod, 'podId' | 'namespace' | 'name'>): boolean =>
  podId === derived(uid, namespace, name)
