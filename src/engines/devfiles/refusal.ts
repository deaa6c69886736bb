/** Something of a valid devfile with which no workspace is made. */
export interface DevfileRefusal {
  /** Keys from the top of the devfile; elements of its lists by their name or id. */
  at: readonly string[]
  message: string
  /** A clause that says how to put it right; empty where the message says it. */
  remedy: string
}

/** For those who do not know its line. */
export const sayRefusal = ({ message, remedy }: DevfileRefusal): string => (remedy ? `${message} (${remedy})` : message)

export const componentAt = (name: string, ...keys: string[]): string[] => ['components', name, ...keys]
