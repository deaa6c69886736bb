/** What the tests of this process wait for, for whoever asks why they do not get on. */
interface UnderWay {
  what: string
  since: number
  /** Who waits: its stack is read only when somebody asks. */
  by: Error
}

const all = new Set<UnderWay>()

export async function whileUnderWay<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const one = { what, since: Date.now(), by: new Error(what) }
  all.add(one)
  try {
    return await work()
  } finally {
    all.delete(one)
  }
}

/** A line for each, and for whoever waits within the tests. */
export const linesUnderWay = (): string[] =>
  [...all].flatMap(({ what, since, by }) => {
    const callers = (by.stack ?? '').split('\n').filter((line) => /\/test\/.*\.test\.ts/.test(line))
    return [`${Math.round((Date.now() - since) / 1000)} s: ${what}`, ...callers]
  })
