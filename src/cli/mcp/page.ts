import { type Kube, listPath } from '../../adapters/kube/index.ts'
import { flag, optional, type ToolCall, text, whole } from '../../adapters/mcp/index.ts'
import { type Kind, type KubeObject, typeMetaOf } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { type McpSession, namespaceField } from './session.ts'

/** One answer lists so many objects at most. */
const MOST = 500

export const pageFields = {
  namespace: namespaceField,
  all_namespaces: flag('List those of all namespaces', false),
  labels: optional(text('Only those with these labels, as kubectl has them: team=web', { most: 1024 })),
  limit: whole('At most so many of them', { least: 1, most: MOST, otherwise: 100 }),
  continue: optional(text('Go on behind a page: what it answered as `continue`', { most: 8192 })),
}

interface Wanted {
  namespace: string | undefined
  all_namespaces: boolean
  labels: string | undefined
  limit: number
  continue: string | undefined
}

interface ListAnswer<T> {
  metadata?: { continue?: string }
  items: T[] | null
}

/** A page of a list, and what to ask with for the next one; nothing at the end. */
export async function pageOf<T extends KubeObject>(
  kube: Kube,
  kind: Kind<T>,
  { options }: McpSession,
  wanted: Wanted,
  { signal }: ToolCall,
): Promise<{ items: T[]; next: { continue?: string } }> {
  const { labels, namespace = options.namespace } = wanted
  const scope = wanted.all_namespaces ? { labels } : { labels, namespace }
  const ask = async (limit: number): Promise<ListAnswer<T>> => {
    try {
      const path = listPath(kind, scope, { limit, continue: wanted.continue })
      return await kube.read<ListAnswer<T>>(path, { about: kind.plural, signal })
    } catch (thrown) {
      if (isFailure(thrown, 'expired')) throw tooOld(thrown)
      // Where objects are large, fewer of them come in a page.
      if (limit > 1 && isFailure(thrown, 'too-large')) return ask(Math.ceil(limit / 8))
      throw thrown
    }
  }
  const page = await ask(wanted.limit)
  const next = page.metadata?.continue
  return { items: (page.items ?? []).map((item) => ({ ...item, ...typeMetaOf(kind) })), next: next ? { continue: next } : {} }
}

const tooOld = (cause: Failure): Failure =>
  new Failure('expired', 'continue is too old: the rest of that list is not to be had any more.', {
    remedy: 'List anew without it.',
    cause,
  })
