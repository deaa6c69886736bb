import { encodeRequest, MAKE_REQUEST, type RequestHead, responseFrames, type Values } from '../../rpc/index.ts'
import { Failure, isRecord, seconds, within } from '../../std/index.ts'
import type { Router } from '../ports/ports.ts'

export interface PodsWanted {
  router: Router
  agentId: bigint
  /** So long the router waits for the agent, milliseconds. */
  patience: number
  signal: AbortSignal
}

export interface PodName {
  namespace: string
  name: string
}

/** Names are all that is wanted: whole pods would be ten times as much. */
const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const PAGE = 500
/** The agent and its cluster may be hostile: bytes of one page, and how long all pages may take. */
const PAGE_BYTES = 16 * 2 ** 20
const LONGEST = seconds(60)
/** Clients take messages of 4 MiB; this leaves room for the fields around the names. */
const ANSWER_BYTES = 4 * 2 ** 20 - 1024
const AROUND_NAMES = 8

/** Names of all pods in the agent's cluster, asked for with the rights of the agent itself. Waits for the agent to connect. */
export const listPods = (wanted: PodsWanted): Promise<PodName[]> =>
  within(wanted.patience + LONGEST, wanted.signal, async (signal) => {
    try {
      return await collect({ ...wanted, signal })
    } catch (thrown) {
      if (!signal.aborted || wanted.signal.aborted) throw thrown
      throw new Failure('timeout', `the agent did not list its pods within ${LONGEST / 1000} s`, {
        reason: 'AgentSlow',
        cause: thrown,
      })
    }
  })

async function collect(wanted: PodsWanted): Promise<PodName[]> {
  const pods: PodName[] = []
  let bytes = 0
  let next: string | undefined
  do {
    const page = pageFrom(await read(wanted, { limit: [String(PAGE)], ...(next === undefined ? {} : { continue: [next] }) }))
    // Else it could go on like this for ever.
    if (page.next !== undefined && page.pods.length === 0) throw broken('an empty page that is not the last')
    for (const pod of page.pods) bytes += pod.namespace.length + pod.name.length + AROUND_NAMES
    if (bytes > ANSWER_BYTES) throw tooMany(pods.length)
    pods.push(...page.pods)
    next = page.next
  } while (next !== undefined)
  return pods
}

/** The body of one answer. */
async function read({ router, agentId, signal }: PodsWanted, query: Values): Promise<string> {
  const call = await router.open(agentId, MAKE_REQUEST, { signal })
  try {
    await call.send(encodeRequest({ kind: 'head', head: headOf(query) }))
    await call.send(encodeRequest({ kind: 'trailer' }))
    call.closeSend()
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const frame of responseFrames(call.responses)) {
      if (frame.kind === 'head') checkStatus(frame.head.status)
      if (frame.kind === 'upgraded') throw broken('bytes of another protocol')
      if (frame.kind !== 'data') continue
      bytes += frame.data.length
      if (bytes > PAGE_BYTES) throw broken(`a page of more than ${PAGE_BYTES / 2 ** 20} MiB`)
      chunks.push(frame.data)
    }
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    call.cancel()
  }
}

const headOf = (query: Values): RequestHead => ({
  method: 'GET',
  path: '/api/v1/pods',
  query,
  headers: { Accept: [NAMES_ONLY] },
  length: 0,
  impersonation: undefined,
})

function checkStatus(status: number): void {
  if (status === 200) return
  if (status === 401 || status === 403)
    throw new Failure('forbidden', `the agent may not list pods: its API server answered ${status}`, {
      reason: 'AgentForbidden',
      remedy: 'Give the service account of the agent the verb list for pods in all namespaces.',
    })
  throw new Failure('unavailable', `the API server of the agent answered ${status}`, { reason: 'ClusterFailed' })
}

function pageFrom(text: string): { pods: PodName[]; next: string | undefined } {
  const list = parsed(text)
  if (!isRecord(list) || !Array.isArray(list.items)) throw broken('something that is no list')
  const next = isRecord(list.metadata) ? list.metadata.continue : undefined
  return { pods: list.items.map(podFrom), next: typeof next === 'string' && next !== '' ? next : undefined }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The error would quote what a stranger wrote.
    throw broken('something that is no JSON')
  }
}

const NAME = /^[a-z0-9.-]{1,253}$/

function podFrom(item: unknown): PodName {
  const metadata = isRecord(item) ? item.metadata : undefined
  if (isRecord(metadata) && isName(metadata.namespace) && isName(metadata.name))
    return { namespace: metadata.namespace, name: metadata.name }
  throw broken('a pod without a name')
}

const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value)

const broken = (what: string) => new Failure('unavailable', `the agent sent ${what}`, { reason: 'AnswerBroken' })

const tooMany = (fit: number) =>
  new Failure('too-large', `the cluster has more pods than fit into one answer: the first ${fit} do`, {
    reason: 'TooManyPods',
    remedy: 'Ask the Kubernetes API of the cluster for them, namespace by namespace.',
  })
