import { createTurnstile } from '../../std/index.ts'

/** Lets the workspaces of a class in one after the other. */
export type Gates = (className: string) => <T>(work: () => Promise<T>) => Promise<T>

export function createGates(): Gates {
  const gates = new Map<string, ReturnType<typeof createTurnstile>>()
  return (className) => {
    const gate = gates.get(className) ?? createTurnstile(1)
    gates.set(className, gate)
    return gate
  }
}
