import type { Command } from 'commander'
import { exitCodes } from './exit-codes.ts'
import { examples, settleNamespace } from './options.ts'
import { capital } from './output.ts'
import type { Shell } from './shell.ts'

/** A verb that can be added to a command line. */
export interface Verb {
  /** `all`: for the verb that speaks of the others. */
  define(command: Command, shell: Shell, finish: Finish, all: readonly VerbEntry[]): void
}

/** Wraps an action: its exit code becomes the process's. It is one of ours, or that of a program in whose place Berth was asked. */
export type Finish = <Arguments extends unknown[]>(
  action: (...given: Arguments) => Promise<number>,
) => (...given: Arguments) => Promise<void>

/** A verb before it is loaded. */
export interface VerbEntry {
  name: string
  summary: string
  load: () => Promise<{ verb: Verb }>
}

interface Help {
  /** Needed where the summary does not say enough. */
  description?: string
  examples: Parameters<typeof examples>
}

interface Action extends Help {
  /** Adds the arguments and the options. */
  options?(command: Command): unknown
  /** Gets the arguments as they were parsed, then the options. Without an exit code all went well. */
  run(shell: Shell, ...given: unknown[]): Promise<number> | Promise<void>
}

/** A verb that does something. */
export const actionVerb = ({ description, examples: shown, options, run }: Action): Verb => ({
  define(command, shell, finish) {
    if (description !== undefined) command.description(description)
    options?.(command)
    command.addHelpText('after', examples(...shown)).action(
      finish(async (...given: unknown[]) => {
        await settleNamespace(shell, command)
        return (await run(shell, ...given)) ?? exitCodes.ok
      }),
    )
  },
})

type Part = Verb & { name: string; summary: string }

interface Group extends Help {
  parts: readonly Part[]
}

/** A verb that consists of verbs, as `berth agent` does of `create` and others. Alone it prints its help. */
export const groupVerb = ({ description, examples: shown, parts }: Group): Verb => ({
  define(command, shell, finish, all) {
    command.helpCommand(false).addHelpText('after', examples(...shown))
    if (description !== undefined) command.description(description)
    for (const part of parts) definePart(command, part, [shell, finish, all])
  },
})

/** A verb that does something, and something else with another word behind it, as `berth create` makes other objects by `create claim`. */
export const verbWithParts = (verb: Verb, parts: readonly Part[]): Verb => ({
  define(command, shell, finish, all) {
    verb.define(command, shell, finish, all)
    command.description(`${command.description()} With the word of a command below, and then a name: something else.`)
    // The words behind a part are its own, and `help` may be the name of something.
    command.enablePositionalOptions().helpCommand(false).hook('preSubcommand', passOptions)
    for (const part of parts) definePart(command, part, [shell, finish, all])
  },
})

/** Options may stand before the part, too: `berth create -n team-a claim shared`. */
function passOptions(command: Command, part: Command): void {
  for (const option of command.options) {
    const key = option.attributeName()
    if (command.getOptionValueSource(key) !== 'cli') continue
    if (part.options.every((each) => each.attributeName() !== key)) part.error(`error: unknown option '${option.long}'`)
    part.setOptionValueWithSource(key, command.getOptionValue(key), 'cli')
  }
}

type Definition = [shell: Shell, finish: Finish, all: readonly VerbEntry[]]

function definePart(command: Command, { name, summary, define }: Part, given: Definition): void {
  const part = command.command(name).summary(summary).description(capital(summary)).copyInheritedSettings(command)
  define(part, ...given)
  part.showHelpAfterError(`Run \`${pathOf(part)} --help\` for how it is used.`)
  // A group has no failures of its own to explain.
  if (part.commands.length === 0) part.option('--verbose', 'when it fails, also print the chain of causes')
}

/** As it is typed: `berth agent create`. */
const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name())
