import { Worker } from 'node:worker_threads'
import { type Clock, seconds, systemClock } from './clock.ts'
import { Failure } from './failure.ts'
import { createTurnstile } from './turnstile.ts'
import { parseYaml, type YamlText } from './yaml.ts'

/**
 * As `parseYaml`, but however long the text is, everything else goes on meanwhile. `tenant` is on whose behalf: tenants take turns,
 * and one who comes with many long texts leaves a thread to the others.
 */
export type ReadYaml = (text: string, tenant?: string) => Promise<YamlText>

export interface YamlReaderOptions {
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
export function createYamlReader({ clock = systemClock, time = seconds(10), memory = 192 }: YamlReaderOptions = {}): ReadYaml {
  const turns = createTurnstile({ width: THREADS, each: 1 })
  const idle = new Set<Worker>()
  const start = (): Worker => {
    const worker = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 32 } })
    const forget = () => void idle.delete(worker)
    // What goes wrong is told to the reading that waits for it; between readings nothing does.
    worker.on('error', forget).on('exit', forget)
    return worker
  }
  const inThread = async (text: string): Promise<YamlText> => {
    const [worker = start()] = idle
    idle.delete(worker)
    const answer = await ask(worker, text, (over) => whenSpent(worker, { clock, time }, over))
    if (answer.read) {
      idle.add(worker)
      return answer.read
    }
    if (answer.ended === 'idle') return inThread(text)
    const limit = answer.ended === 'late' ? `${time / 1000} s to read` : `${memory} MiB of memory to read`
    return { problem: { line: 1, column: 1, document: 1, message: `The document takes more than ${limit}`, isTooLarge: true } }
  }
  // Where nothing can stand for something longer, little text is little work.
  return (text, tenant = '') =>
    text.length <= SMALL && !text.includes('&') ? Promise.resolve(parseYaml(text)) : turns.pass(tenant, () => inThread(text))
}

/** It runs from its source and from what is built of it. */
const THREAD = new URL(`./yaml-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

type Answer = { read: YamlText; ended?: undefined } | { ended: 'idle' | 'late' | 'memory'; read?: undefined }

/** The thread keeps the process alive only while it is asked something. */
async function ask(thread: Worker, text: string, limited: (over: () => void) => () => void): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const onMessage = (read: YamlText) => resolve({ read })
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
    thread.postMessage(text)
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
