/** The first question to ask of a value that came from outside. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members that are there: an optional member may be missing, and is never undefined. An empty text stays. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> }
export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** The object that the text is in JSON; `undefined` for a text that is none. */
export function recordIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
