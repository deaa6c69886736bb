import { Worker } from 'node:worker_threads'
import { type Clock, seconds, systemClock } from './clock.ts'
import { Failure } from './failure.ts'
import { createTurnstile } from './turnstile.ts'
import { parseYaml, type YamlProblem, type YamlText } from './yaml.ts'
import { parseYamlTree, type YamlTreeOptions, type YamlTreeText } from './yaml-tree.ts'

/**
 * As `parseYaml`, but however long the text is, everything else goes on meanwhile. `tenant` is on whose behalf: tenants take turns,
 * and one who comes with many long texts leaves a thread to the others.
 */
export type ReadYaml = (text: string, tenant?: string) => Promise<YamlText>

/** The same of `parseYamlTree`. */
export type ReadYamlTree = (text: string, options: YamlTreeOptions, tenant?: string) => Promise<YamlTreeText>

export interface YamlReaders {
  readYaml: ReadYaml
  readYamlTree: ReadYamlTree
}

/** A question to the thread: with `tree`, for the tree of the text. */
export interface YamlQuestion {
  text: string
  tree?: YamlTreeOptions
}

interface YamlReaderOptions {
  clock?: Clock
  /** Milliseconds of the CPU for one text: a machine that does ten other things makes no text too long. */
  time?: number
  /** Mebibytes for each thread. */
  memory?: number
}

/** Characters that take a few milliseconds at worst: not worth the way to another thread and back. */
const SMALL = 4 * 2 ** 10

const THREADS = 2

/** Reads long texts in threads of their own, which may take neither the time nor the memory of this one; those of one tenant one after another. */
export function createYamlReaders(options?: YamlReaderOptions): YamlReaders {
  const inThread = createThreads(options)
  return {
    readYaml: async (text, tenant) => (isLittleWork(text) ? parseYaml(text) : inThread<YamlText>({ text }, tenant)),
    readYamlTree: async (text, tree, tenant) =>
      isLittleWork(text) ? parseYamlTree(text, tree) : inThread<YamlTreeText>({ text, tree }, tenant),
  }
}

export const createYamlReader = (options?: YamlReaderOptions): ReadYaml => createYamlReaders(options).readYaml

export const createYamlTreeReader = (options?: YamlReaderOptions): ReadYamlTree => createYamlReaders(options).readYamlTree

/** A little text is little work if nothing in it can stand for something longer: an alias takes both signs. */
const isLittleWork = (text: string): boolean => text.length <= SMALL && !(text.includes('&') && text.includes('*'))

interface Refusal {
  problem: YamlProblem & { document: number }
}

function createThreads({ clock = systemClock, time = seconds(10), memory = 192 }: YamlReaderOptions = {}) {
  const turns = createTurnstile({ width: THREADS, each: 1 })
  const idle = new Set<Worker>()
  const start = (): Worker => {
    const worker = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 32 } })
    const forget = () => void idle.delete(worker)
    // A failure is told to the reading that waits for it; between readings there is none.
    worker.on('error', forget).on('exit', forget)
    return worker
  }
  const inThread = async <T>(question: YamlQuestion): Promise<T | Refusal> => {
    const [worker = start()] = idle
    idle.delete(worker)
    const answer = await ask<T>(worker, question, (over) => whenSpent(worker, { clock, time }, over))
    if (answer.read) {
      idle.add(worker)
      return answer.read
    }
    if (answer.ended === 'idle') return inThread<T>(question)
    const limit = answer.ended === 'late' ? `${time / 1000} s to read` : `${memory} MiB of memory to read`
    return { problem: { line: 1, column: 1, document: 1, message: `The document takes more than ${limit}`, isTooLarge: true } }
  }
  return <T>(question: YamlQuestion, tenant = '') => turns.pass(tenant, () => inThread<T>(question))
}

/** It runs from its source and from what is built of it. */
const THREAD = new URL(`./yaml-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

type Answer<T> = { read: T; ended?: undefined } | { ended: 'idle' | 'late' | 'memory'; read?: undefined }

/** The thread keeps the process alive only while it is asked something. */
async function ask<T>(thread: Worker, question: YamlQuestion, limited: (over: () => void) => () => void): Promise<Answer<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>()
  const onMessage = (read: T) => resolve({ read })
  const onError = (thrown: unknown) =>
    isOutOfMemory(thrown) ? resolve({ ended: 'memory' }) : reject(Failure.from(thrown, 'reading YAML'))
  const onExit = () => resolve({ ended: 'idle' })
  thread.ref()
  thread.on('message', onMessage).on('error', onError).on('exit', onExit)
  const inTime = limited(() => {
    resolve({ ended: 'late' })
    void thread.terminate()
  })
  try {
    thread.postMessage(question)
    return await promise
  } finally {
    inTime()
    thread.off('message', onMessage).off('error', onError).off('exit', onExit)
    thread.unref()
  }
}

/** Calls when the thread has been busy for so long from now on. */
function whenSpent(thread: Worker, { clock, time }: { clock: Clock; time: number }, over: () => void): () => void {
  // A thread that is only about to begin cannot be asked, and has done nothing yet.
  const began = thread.cpuUsage().catch(() => ({ user: 0, system: 0 }))
  let isOff = false
  let cancel = clock.after(time, () => void look())
  const look = async (): Promise<void> => {
    // It may not have begun yet on a busy machine. That it has ended by itself is heard elsewhere, and calls this off.
    const spent = await began.then((before) => thread.cpuUsage(before)).catch(() => ({ user: 0, system: 0 }))
    if (isOff) return
    const left = time - (spent.user + spent.system) / 1000
    if (left <= 0) over()
    else cancel = clock.after(left, () => void look())
  }
  return () => {
    isOff = true
    cancel()
  }
}

const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
