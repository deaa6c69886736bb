import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Kube } from '../adapters/kube/index.ts'
import { Failure, isFailure } from '../std/index.ts'
import { FORMATS, LIST_FORMATS, type OutputFormat } from './output.ts'
import type { Shell } from './shell.ts'

/** The folder of a local control plane, below the folder in which one stands. */
export const LOCAL = join('.berth', 'local')

export const withDir = (command: Command): Command =>
  command.option('--dir <folder>', 'folder of the local control plane', folderName, LOCAL)

export const withOutput = (command: Command): Command =>
  command.addOption(new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table'))

/** As `kubectl get` has it. */
export const withListOutput = (command: Command): Command =>
  command.addOption(new Option('-o, --output <format>', 'how to print').choices(LIST_FORMATS).default('table'))

export const withKubeconfig = (command: Command): Command =>
  command
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the cluster (default: $KUBECONFIG, else what `berth up` left here, else ~/.kube/config)',
    )
    .option('--context <name>', 'context in the kubeconfig')

/** Stands for the namespace of the context until the command line is complete, and with it the kubeconfig. */
const OF_CONTEXT = ''

export const withNamespace = (command: Command, meaning: string): Command =>
  command.addOption(new Option('-n, --namespace <name>', meaning).default(OF_CONTEXT, 'the one of the context'))

/** Puts the namespace of the context where `withNamespace` was told none. */
export async function settleNamespace(shell: Shell, command: Command): Promise<void> {
  if (command.getOptionValue('namespace') !== OF_CONTEXT) return
  command.setOptionValue('namespace', await namespaceOfContext(shell, command.opts()))
}

export async function namespaceOfContext(shell: Shell, options: ClusterOptions): Promise<string> {
  const kubeconfig = existingKubeconfig(shell, options)
  const { namespaceIn } = await import('../adapters/kube/index.ts')
  return namespaceIn({ kubeconfig, context: options.context })
}

/** Reads the file that a flag names. */
export function fileAt(shell: Shell, flag: string, file: string): Buffer {
  try {
    return readFileSync(resolve(shell.cwd, file))
  } catch (cause) {
    throw new Failure('not-found', `${flag}: ${file} cannot be read`, { cause, remedy: 'Name an existing file.' })
  }
}

/** The folder that --dir names, by its real path: by that processes are known to work in it. */
export function dirOf(shell: Shell, { dir }: { dir: string }): string {
  const folder = resolve(shell.cwd, dir)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) throw new Failure('invalid', `--dir: ${folder} is no folder`, { remedy: 'Name a folder.' })
  return realPathOf(folder)
}

/** Links are followed as far as the path is there. */
const realPathOf = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realPathOf(dirname(path)), basename(path))

/** For commands that Berth advises: they are about the same folder. */
export const dirFlag = ({ dir }: { dir: string }): string => (dir === LOCAL ? '' : ` --dir ${dir}`)

export interface OutputOptions {
  output: OutputFormat
}

export interface ClusterOptions {
  kubeconfig?: string
  context?: string
}

/** The kubeconfig to use; `undefined` stands for the user's own default. */
export function kubeconfigOf(shell: Shell, { kubeconfig }: ClusterOptions): string | undefined {
  if (kubeconfig) return resolve(shell.cwd, kubeconfig)
  // It may list several files: the client reads that itself.
  if (shell.env.KUBECONFIG) return undefined
  const local = resolve(shell.cwd, LOCAL, 'kubeconfig')
  return existsSync(local) ? local : undefined
}

/** Loads the client only now: verbs that talk to no cluster start three times faster without it. */
export async function kubeOf(shell: Shell, options: ClusterOptions): Promise<Kube> {
  const kubeconfig = existingKubeconfig(shell, options)
  const { connect } = await import('../adapters/kube/index.ts')
  return connect({ kubeconfig, context: options.context })
}

function existingKubeconfig(shell: Shell, options: ClusterOptions): string | undefined {
  const file = kubeconfigOf(shell, options)
  if (!options.kubeconfig || !file || existsSync(file)) return file
  throw new Failure('not-found', `there is no kubeconfig ${file}.`, {
    remedy: 'Name an existing file with --kubeconfig, or run `berth up` first.',
  })
}

/** Does the work with the person's own rights, and ends the connection. */
export async function withKube<T>(shell: Shell, options: ClusterOptions, work: (kube: Kube) => Promise<T>): Promise<T> {
  const kube = await kubeOf(shell, options)
  try {
    return await work(kube)
  } catch (thrown) {
    throw withAdvice(thrown, kube.server)
  } finally {
    await kube.close()
  }
}

/** The client does not know that it is a person's kubeconfig with which it was refused, or got no answer. */
export function withAdvice(thrown: unknown, server: string): unknown {
  if (isFailure(thrown, 'unauthorized') || isNotServed(thrown)) return withRemedy(thrown)
  return isFailure(thrown, 'unavailable', 'timeout') && thrown.message.includes(server) ? withRemedy(thrown) : thrown
}

/** The kinds that commands ask for are those of Berth. */
const isNotServed = (thrown: unknown): thrown is Failure => isFailure(thrown, 'not-found') && thrown.reason === 'KindNotServed'

export function withRemedy(failure: Failure): Failure {
  const { code, message, reason } = failure
  return new Failure(code, message, { cause: failure, remedy: remedyFor(failure), ...(reason && { reason }) })
}

/** What can be done about a cluster that does not answer as it was asked. */
export function remedyFor({ code, remedy }: Failure): string {
  if (remedy !== undefined) return remedy
  if (code === 'unauthorized') return 'Log in again: the credentials of the kubeconfig are not accepted.'
  if (code === 'not-found') return 'Install Berth there (`berth install --apply`), or name another cluster with --kubeconfig.'
  if (code === 'forbidden') return 'Log in as somebody who may, or ask an administrator for the right.'
  return 'Start the cluster (`berth up` starts a local one), or name another one with --kubeconfig.'
}

/** What is looked at, or nothing where the person may not look. */
export async function unlessForbidden<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (thrown) {
    if (isFailure(thrown, 'forbidden')) return undefined
    throw thrown
  }
}

/** Commander's parser for a folder: no name at all would be the folder in which one stands. */
export function folderName(text: string): string {
  if (text === '') throw new InvalidArgumentError('No folder is named. Name one, or leave the option out.')
  return text
}

/** Commander's parser for a count or a number of seconds. */
export const wholeNumber = (text: string): number => wholeFrom(0, text)

/** Commander's parser for seconds without which nothing can come to pass. */
export const positiveSeconds = (text: string): number => wholeFrom(1, text)

function wholeFrom(least: number, text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isInteger(number) || number < least) throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`)
  return number
}

/** Commander's parser for a TCP port. */
export function portNumber(text: string): number {
  const port = wholeNumber(text)
  if (port > 65_535) throw new InvalidArgumentError('A port is 65535 at most.')
  return port
}

/** The examples at the end of a verb's help. */
export const examples = (...lines: [command: string, what: string][]): string => {
  const width = Math.max(...lines.map(([command]) => command.length))
  const body = lines.map(([command, what]) =>
    width + what.length > 74 ? `  # ${what}\n  ${command}` : `  ${command.padEnd(width)}  # ${what}`,
  )
  return `\nExamples:\n${body.join('\n')}`
}
