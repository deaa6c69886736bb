import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Option } from 'commander'
import {
  type DevfileFetcher,
  type DevfileFindings,
  type DevfileOptions,
  type DevfileProblem,
  type DevfileProfile,
  flattenDevfile,
  PROFILES,
  validateDevfile,
} from '../../devfile/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { marked, type OutputFormat, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'

interface Options extends OutputOptions {
  profile: DevfileProfile
}

export const verb = actionVerb({
  description: `Say everything that is wrong with a devfile, each with its file, line and column. Parents are read from files below the folder of the devfile; those that are elsewhere are not fetched, and what they bring is not looked at. Exits with ${exitCodes.failed} when something is wrong; warnings do not count.`,
  examples: [
    ['berth validate .devfile.yaml', 'before it is pushed'],
    ['berth validate .devfile.yaml --profile gitlab', 'and whether GitLab would take it'],
    ['berth validate - < .devfile.yaml', 'from standard input'],
    ['berth validate .devfile.yaml -o json | jq -r .[].rule', 'for programs'],
  ],
  options: (command) =>
    withOutput(command)
      .argument('<devfile>', 'file that holds the devfile, YAML or JSON; - for standard input')
      .addOption(
        new Option('--profile <name>', 'by which rules: all of the specification, or what GitLab takes of it')
          .choices(PROFILES)
          .default('full'),
      ),
  run: validate,
})

async function validate(shell: Shell, given: string, { profile, output }: Options): Promise<ExitCode> {
  const [file, text] = given === '-' ? ['stdin', await shell.readInput()] : [given, await textOf(shell, given)]
  const { problems, warnings } = await findingsOf(shell, text, { name: file, profile })
  const rows = [...problems.map((each) => ({ severity: 'error', ...each })), ...warnings.map(asWarning)]
  if (rows.length > 0 || output !== 'table') shell.print(print(shell, output, rows))
  if (output === 'table' && problems.length === 0) shell.print(marked('ok', `${file} is valid${but(warnings)}.`, shell.paint))
  if (output === 'table' && problems.length > 0)
    shell.say(`\n${file} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}.\n`)
  return problems.length > 0 ? exitCodes.failed : exitCodes.ok
}

const but = (warnings: readonly DevfileProblem[]): string =>
  warnings.some(({ rule }) => rule === UNRESOLVED) ? ', as far as it is here: nobody has looked at what its parents bring' : ''

const UNRESOLVED = 'parent-unresolved'

type Row = DevfileProblem & { severity: string }

const asWarning = (problem: DevfileProblem): Row => ({ severity: 'warning', ...problem })

const print = ({ paint }: Shell, output: OutputFormat, rows: Row[]): string =>
  render(output, rows, [
    {
      title: 'PLACE',
      of: ({ file, line, column }) => `${file}:${line}:${column}`,
      paint: ({ severity }, cell) => marked(severity === 'error' ? 'fail' : 'warn', cell, paint),
    },
    { title: 'RULE', of: ({ rule, severity }) => (severity === 'error' ? rule : `${rule} (warning)`) },
    { title: 'WHAT', of: ({ path, message, remedy }) => `${path ? `${path}: ` : ''}${message}${remedy ? ` (${remedy})` : ''}` },
  ])

async function textOf({ cwd }: Shell, file: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? 'not-found' : 'invalid'
    throw new Failure(code, `${file} cannot be read.`, { cause, remedy: 'Name a file that holds a devfile.' })
  }
}

/** With its parents where they are files; else by itself. */
async function findingsOf(shell: Shell, text: string, options: DevfileOptions): Promise<DevfileFindings> {
  const elsewhere: string[] = []
  const fetch: DevfileFetcher = async (reference) => {
    const isFile = reference.by === 'uri' && !/^[a-z][a-z0-9+.-]*:/i.test(reference.uri)
    if (isFile) return { name: reference.uri, text: await textOf(shell, reference.uri) }
    elsewhere.push(reference.by)
    throw new Failure('unavailable', 'it is not fetched here')
  }
  const read = await flattenDevfile(text, { ...options, fetch, signal: shell.signal })
  if ('devfile' in read) return { problems: [], warnings: read.devfile.warnings }
  return elsewhere.length > 0 ? validateDevfile(text, options) : read
}
