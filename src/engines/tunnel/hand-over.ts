/** Messages from hand to hand: nothing is kept that nobody has asked for. */
export interface HandOver<T> extends AsyncIterable<T> {
  /** Resolves when the reader has taken it. When there is no reader any more it does nothing. */
  put(value: T): Promise<void>
  /** No more will come. What was put is still read. */
  end(): void
  /** The reader gets this error, now. */
  fail(error: unknown): void
  /** The reader waits for something to read, and is not held up by what it read before. */
  readonly isWanted: boolean
}

export function createHandOver<T>(): HandOver<T> {
  const offered: { value: T; taken: () => void }[] = []
  let ending: { error?: unknown } | undefined
  let wake: (() => void) | undefined
  const look = () => {
    wake?.()
    wake = undefined
  }
  const releaseAll = () => {
    for (const { taken } of offered.splice(0)) taken()
  }
  const close = (how: { error?: unknown }) => {
    ending ??= how
    look()
  }
  return {
    put(value) {
      if (ending) return Promise.resolve()
      return new Promise((taken) => {
        offered.push({ value, taken })
        look()
      })
    },
    end: () => close({}),
    fail(error) {
      releaseAll()
      close({ error })
    },
    get isWanted() {
      return wake !== undefined
    },
    async *[Symbol.asyncIterator]() {
      try {
        while (true) {
          const next = offered.shift()
          if (next) {
            next.taken()
            yield next.value
          } else if (ending) {
            if ('error' in ending) throw ending.error
            return
          } else
            await new Promise<void>((resolve) => {
              wake = resolve
            })
        }
      } finally {
        ending ??= {}
        releaseAll()
      }
    },
  }
}
