import type { Command } from 'commander'
import type { ExitCode } from './exit-codes.ts'
import type { Shell } from './shell.ts'

/** A command as a file of commands/ exports it: options, help and examples in `define`, the work in its action. */
interface Verb {
  /** `all`: for the verb that speaks of the others. */
  define(command: Command, shell: Shell, finish: Finish, all: readonly Entry[]): void
}

/** Wraps an action: its exit code becomes the process's. */
export type Finish = <Arguments extends unknown[]>(
  action: (...given: Arguments) => Promise<ExitCode>,
) => (...given: Arguments) => Promise<void>

/** A verb before it is loaded. */
export interface Entry {
  name: string
  summary: string
  load: () => Promise<{ verb: Verb }>
}
