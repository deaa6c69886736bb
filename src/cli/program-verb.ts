import { type Command, Option } from 'commander'
import { createLog, Failure, type Flags, type Setting, type SettingTable } from '../std/index.ts'
import { exitCodes } from './exit-codes.ts'
import { examples } from './options.ts'
import type { Shell } from './shell.ts'
import type { Finish } from './verb.ts'

interface ProgramVerb {
  description: string
  /** The program's own table: every option is one of its lines. */
  settings: SettingTable
  examples: Parameters<typeof examples>
  /** Runs the program until the shell's signal aborts. */
  run(flags: Flags, shell: Shell, log: { write(line: string): unknown }): Promise<void>
}

/** A verb that runs one of the programs of an installation. */
export const programVerb = ({ description, settings, examples: shown, run }: ProgramVerb) => ({
  define(command: Command, shell: Shell, finish: Finish): void {
    command.description(`${description} Its log goes to standard output, one JSON object a line.`)
    for (const setting of Object.values(settings)) {
      const option = new Option(setting.flag, described(setting))
      command.addOption(setting.isRepeated ? option.argParser(appended) : option)
    }
    command.addHelpText('after', examples(...shown)).action(
      finish(async (flags: Flags) => {
        const log = { write: (line: string) => shell.print(line.trimEnd()) }
        const goOn = (thrown: unknown) =>
          createLog('error', log).error('A failure was not handled', { failure: Failure.from(thrown) })
        // Programs work for many tenants: what nobody has thought of is told, and ends nobody else's work.
        process.on('unhandledRejection', goOn)
        try {
          await run(flags, shell, log)
        } finally {
          process.off('unhandledRejection', goOn)
        }
        return exitCodes.ok
      }),
    )
  },
})

// Commander would read the variable of a toggle as true, whatever it says; so it only shows what parseConfig reads.
const described = ({ text, fallback, variable }: Setting<unknown>): string =>
  [text, fallback && `(default: ${fallback})`, variable && `(env: ${variable})`].filter(Boolean).join(' ')

const appended = (value: string, before: string[] = []): string[] => [...before, value]
