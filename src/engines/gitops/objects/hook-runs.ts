import { createHash } from 'node:crypto'

/** On a hook in the cluster: the run for which it was made. */
export const RUN_ANNOTATION = 'gitops.berth.dev/hook-run'

export type HookEnd = 'succeeded' | 'failed'

/** Hooks run again when something else is wanted, and when somebody asks for a sync. */
export interface HookRun {
  /** Digest of all that the commit describes. */
  readonly content: string
  /** Of the request that a sync answers; empty where nobody asked, and then the run that is there goes on. */
  readonly request: string
}

export const hookRun = (content: string, request: string | undefined): HookRun => ({
  content,
  request: request === undefined ? '' : createHash('sha256').update(request).digest('hex').slice(0, 12),
})

/**
 * The run of a hook as a text, which stands on it, and in the inventory in the place of its hash, there with its end. None of the parts
 * has a dot in it, nor has a hash.
 */
export const textOf = ({ content, request }: HookRun, end: HookEnd | '' = ''): string => `${content}.${request}.${end}`

/** Whether the text speaks of this run. */
export function isOfRun(text: string | undefined, run: HookRun): boolean {
  const [content, request] = text?.split('.') ?? []
  return content === run.content && (run.request === '' || request === run.request)
}

/** How the hook ended of which this is written down; `undefined` while it runs, and for what is no hook. */
export function endOf(text: string | undefined): HookEnd | undefined {
  const end = text?.split('.')[2]
  return end === 'succeeded' || end === 'failed' ? end : undefined
}

/** The same run, over. */
export const ended = (text: string, end: HookEnd): string => `${text.slice(0, text.lastIndexOf('.'))}.${end}`
