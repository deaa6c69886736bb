import { Failure } from './failure.ts'

export interface TurnstileOptions {
  /** So much may be inside at once. Without it only the limit of each key counts. */
  width?: number
  /** So much of one key may be inside at once; as much as of all without it. */
  each?: number
}

export interface Entering {
  /** 1 without it. What weighs more than there is room is let in alone. */
  weight?: number
  signal?: AbortSignal | undefined
}

interface WaitingEntry {
  weight: number
  enter: () => void
}

/** Those of one key, in the order in which they came. */
interface KeyLine {
  inside: number
  waiting: Set<WaitingEntry>
}

export const createTurnstile = (options: TurnstileOptions): Turnstile => new Turnstile(options)

/** Lets so much work in at once. What waits goes in by turns of the keys: who has a thousand waiting delays another by one of them. */
export class Turnstile {
  readonly #width: number
  readonly #each: number
  /** The order of the Map is the order of the turns. */
  readonly #lines = new Map<string, KeyLine>()
  #inside = 0
  #waiting = 0

  constructor({ width = Number.POSITIVE_INFINITY, each = width }: TurnstileOptions) {
    this.#width = width
    this.#each = each
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting
  }

  async pass<T>(key: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Resolves when there is room, to a function that makes it free again. Throws `cancelled` when the signal aborts before that. */
  enter(key: string, { weight: asked = 1, signal }: Entering = {}): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(calledOff())
    const line = this.#lines.get(key) ?? { inside: 0, waiting: new Set() }
    this.#lines.set(key, line)
    const weight = Math.min(asked, this.#each, this.#width)
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const turnAway = () => {
      line.waiting.delete(one)
      this.#waiting--
      reject(calledOff())
      this.#goOn(key, line)
    }
    const leave = () => {
      line.inside -= weight
      this.#inside -= weight
      this.#goOn(key, line)
    }
    const enter = () => {
      signal?.removeEventListener('abort', turnAway)
      resolve(once(leave))
    }
    const one: WaitingEntry = { weight, enter }
    line.waiting.add(one)
    this.#waiting++
    signal?.addEventListener('abort', turnAway, { once: true })
    this.#admit()
    return promise
  }

  #admit(): void {
    for (let turn = this.#next(); turn; turn = this.#next()) {
      const [key, line, first] = turn
      line.waiting.delete(first)
      line.inside += first.weight
      this.#inside += first.weight
      this.#waiting--
      // Behind the others: that is the turn.
      this.#lines.delete(key)
      this.#lines.set(key, line)
      first.enter()
    }
  }

  /** The first of a line that fits. */
  #next(): [string, KeyLine, WaitingEntry] | undefined {
    if (this.#waiting === 0 || this.#inside >= this.#width) return undefined
    for (const [key, line] of this.#lines) {
      const [first] = line.waiting
      if (first && line.inside + first.weight <= this.#each && this.#inside + first.weight <= this.#width)
        return [key, line, first]
    }
    return undefined
  }

  #goOn(key: string, line: KeyLine): void {
    this.#admit()
    if (line.inside === 0 && line.waiting.size === 0) this.#lines.delete(key)
  }
}

const calledOff = (): Failure => new Failure('cancelled', 'nobody waits for this any more')

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
