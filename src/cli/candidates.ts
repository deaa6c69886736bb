import { Command } from 'commander'
import type { Kube } from '../adapters/kube/index.ts'
import { type Kind, type KubeObject, Namespaces, Previews, Workspaces } from '../api/index.ts'
import { aborted, seconds } from '../std/index.ts'
import { KIND_WORDS, kindCalled, nameOfKind } from './kinds.ts'
import { type ClusterOptions, namespaceOfContext, withKube } from './options.ts'
import type { Shell } from './shell.ts'
import type { VerbEntry } from './verb.ts'

/** Whoever types waits for it. */
const ANSWERS_WITHIN = seconds(3)

/**
 * The names that may stand in the place of the last of these words, which may be empty: of objects, of namespaces, of kinds, of branches. Empty
 * where nothing is known, the cluster does not answer, or the person may not look: nobody who types wants to read about that.
 */
export async function candidatesFor(shell: Shell, all: readonly VerbEntry[], words: readonly string[]): Promise<string[]> {
  try {
    const line = await lineOf(shell, all, words)
    if (!line) return []
    return await withKube(shell, line.command.opts(), async (kube) => {
      const signal = AbortSignal.any([shell.signal, AbortSignal.timeout(ANSWERS_WITHIN)])
      // A connection that is being made hears no signal.
      return Promise.race([namesAt(shell, { kube, signal }, line), aborted(signal).then(() => [])])
    })
  } catch {
    // As said above.
    return []
  }
}

async function namesAt(shell: Shell, given: Pick<Source, 'kube' | 'signal'>, { command, place, word }: Line): Promise<string[]> {
  const options: Options = command.opts()
  const from = { ...given, namespace: options.namespace || (await namespaceOfContext(shell, options)) }
  if (place === 'namespace') return starting(word, await namesOf(from, Namespaces))
  if (place === 'anything') return starting(word, [...KIND_WORDS, ...(await namesOf(from, Workspaces))])
  if ('branchesOf' in place) return starting(word, await branchesOf(from, place.branchesOf))
  return starting(word, await namesWithKind(from, place, word))
}

interface Options extends ClusterOptions {
  namespace?: string
}

const starting = (word: string, names: readonly string[]): string[] =>
  names.filter((name) => name.startsWith(word) && !OBEYED.test(name))

/** Bash obeys what it finds in words to choose from, and a server may call its objects anything. */
const OBEYED = /[^\w./-]/

interface Line {
  /** With the options as they were given. */
  command: Command
  /** What is wanted of the last word. */
  place: Kind | 'namespace' | 'anything' | { branchesOf: string }
  word: string
}

/** Reads the words as the verb itself would. */
async function lineOf(shell: Shell, all: readonly VerbEntry[], words: readonly string[]): Promise<Line | undefined> {
  const [name, ...others] = words
  const entry = all.find((each) => each.name === name)
  const word = others.pop()
  if (!entry || word === undefined) return undefined
  let command = new Command(entry.name).exitOverride().configureOutput({ writeErr: () => undefined })
  const { verb } = await entry.load()
  verb.define(command, shell, () => async () => undefined, all)
  let before = others
  for (let part = partIn(command, before); part; part = partIn(command, before)) {
    before = before.filter((each) => each !== part?.name())
    command = part
  }
  const option = command.options.find(({ long, short }) => [long, short].includes(before.at(-1)))
  if (option?.required) before = before.slice(0, -1)
  const { operands } = command.parseOptions(before)
  const place = option?.required
    ? placeCalled(/<([\w-]+)>/.exec(option.flags)?.[1], option.attributeName())
    : placeOf(command, operands)
  return place && { command, place, word }
}

const partIn = (command: Command, words: readonly string[]): Command | undefined =>
  command.commands.find((part) => words.includes(part.name()))

/** Arguments and values are called by the kind of object whose name they are. */
function placeCalled(name: string | undefined, attribute?: string): Line['place'] | undefined {
  if (attribute === 'namespace' || name === 'namespaces') return 'namespace'
  return kindCalled(name ?? '')
}

function placeOf(command: Command, operands: readonly string[]): Line['place'] | undefined {
  const argument = command.registeredArguments[operands.length] ?? command.registeredArguments.at(-1)
  if (!argument || (operands.length >= command.registeredArguments.length && !argument.variadic)) return undefined
  const [first = ''] = operands
  if (argument.name() === 'branch') return { branchesOf: nameOfKind(Previews)(first) }
  if (argument.name() !== 'what') return placeCalled(argument.name())
  return operands.length === 0 ? 'anything' : kindCalled(first.split('/')[0] ?? '')
}

interface Source {
  kube: Kube
  signal: AbortSignal
  namespace: string
}

async function namesOf({ kube, signal, namespace }: Source, kind: Kind): Promise<string[]> {
  const found: KubeObject[] = await kube.list(kind, { metadataOnly: true, ...(kind.namespaced && { namespace }) }, signal)
  return found.map(({ metadata }) => metadata.name)
}

/** Those that have an environment. */
async function branchesOf({ kube, signal, namespace }: Source, name: string): Promise<string[]> {
  const preview = await kube.get(Previews, { name, namespace }, signal)
  return (preview?.status?.environments ?? []).map(({ branch }) => branch)
}

/** Where the kind stands before the name, it does so in the answer. */
async function namesWithKind(from: Source, kind: Kind, word: string): Promise<string[]> {
  const at = word.indexOf('/')
  const names = await namesOf(from, kind)
  return at < 0 ? names : names.map((name) => `${word.slice(0, at)}/${name}`)
}
