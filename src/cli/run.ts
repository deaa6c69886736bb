import { Command, CommanderError } from 'commander'
import { Failure, harmlessLine } from '../std/index.ts'
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts'
import { netted } from './harmless.ts'
import { capital, sentence, WIDTH } from './output.ts'
import { OUTPUT_CLOSED, type Shell } from './shell.ts'
import { verbs } from './verbs.ts'
import { versionOf } from './version.ts'

/** Runs one command line and says how it ended. */
export async function run(args: readonly string[], given: Shell): Promise<number> {
  const shell: Shell = { ...given, print: (text) => given.print(netted(text)), say: (text) => given.say(netted(text)) }
  const outcome: { code: number } = { code: exitCodes.ok }
  try {
    const program = await programFor(args, shell, (code) => {
      outcome.code = code
    })
    const unknown = unknownHelp(args)
    if (unknown !== undefined) program.error(`error: unknown command '${harmlessLine(unknown)}'`)
    await program.parseAsync(args, { from: 'user' })
    return outcome.code
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    return explain(Failure.from(thrown), args, shell)
  }
}

/** One line and its remedy; with `--verbose` also what caused it. */
function explain(failure: Failure, args: readonly string[], shell: Shell): ExitCode {
  const { aborted, reason } = shell.signal
  if (failure.code === 'cancelled' && aborted)
    return reason instanceof Error && reason.message === OUTPUT_CLOSED ? exitCodes.ok : exitCodes.interrupted
  const remedy = failure.remedy ? ` ${failure.remedy}` : ''
  shell.say(`berth: ${sentence(harmlessLine(failure.message.trim()))}${remedy}\n`)
  if (args.includes('--verbose')) shell.say(chainOf(failure))
  return exitCodeOf(failure)
}

function chainOf(failure: Error): string {
  const lines: string[] = []
  for (let at: unknown = failure; at instanceof Error; at = at.cause) lines.push(`  ${at.stack ?? at.message}\n`)
  return lines.join('  caused by\n')
}

const EXIT_CODES = `
Exit codes:
  0 done           1 failed       2 wrong command line  3 not found
  4 refused        5 no answer    6 not in time         7 invalid
  8 doctor found a failure        9 diff found differences
  10 declined at the terminal              130 interrupted`

async function programFor(args: readonly string[], shell: Shell, ended: (code: number) => void): Promise<Command> {
  const program = new Command('berth')
    .description('Claim a target, push to Git, open your workspace: a Kubernetes operator and its friends.')
    .version(versionOf(shell.home), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [verb]', 'print the help of a verb')
    .addHelpText('after', EXIT_CODES)
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.say(text),
      getOutHelpWidth: () => WIDTH,
    })
    .showHelpAfterError('Run `berth --help` for the list of verbs.')
    .exitOverride()
  const wanted = wantedVerb(args)
  for (const { name, summary, load } of verbs) {
    const command = program.command(name).summary(summary).description(capital(summary)).copyInheritedSettings(program)
    command.showHelpAfterError(`Run \`berth ${name} --help\` for how it is used.`)
    if (name !== wanted) continue
    const { verb } = await load()
    verb.define(
      command,
      shell,
      (action) =>
        async (...given) =>
          ended(await action(...given)),
      verbs,
    )
    command.option('--verbose', 'when it fails, also print the chain of causes')
  }
  return program
}

/** The first word that is no option; `help up` asks for `up`. */
function wantedVerb(args: readonly string[]): string | undefined {
  const [first, second] = wordsIn(args)
  return first === 'help' ? second : first
}

/** `help nope` would print the help of everything, as if that had been asked for. */
function unknownHelp(args: readonly string[]): string | undefined {
  const [first, second] = wordsIn(args)
  const isKnown = second === undefined || second === 'help' || verbs.some(({ name }) => name === second)
  return first === 'help' && !isKnown ? second : undefined
}

const wordsIn = (args: readonly string[]): string[] => args.filter((word) => !word.startsWith('-'))
