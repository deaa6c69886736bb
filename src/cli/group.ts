import type { Command } from 'commander'
import { capital } from './output.ts'
import type { Shell } from './shell.ts'
import type { Finish } from './verb.ts'

/** A verb of a group: `create` of `berth agent`. */
export interface Part {
  name: string
  summary: string
  define(command: Command, shell: Shell, finish: Finish): void
}

/** A verb that consists of verbs. Alone it prints its help. */
export function defineGroup(command: Command, shell: Shell, finish: Finish, parts: readonly Part[]): void {
  command.helpCommand(false)
  for (const { name, summary, define } of parts) {
    const part = command.command(name).summary(summary).description(capital(summary)).copyInheritedSettings(command)
    define(part, shell, finish)
    part.showHelpAfterError(`Run \`${pathOf(part)} --help\` for how it is used.`)
    // A group has no failures of its own to explain.
    if (part.commands.length === 0) part.option('--verbose', 'when it fails, also print the chain of causes')
  }
}

/** As it is typed: `berth agent create`. */
const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name())
