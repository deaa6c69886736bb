import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, Workspaces } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { findObject, type ObjectOptions } from '../find-object.ts'
import { KIND_WORDS, kindCalled, nameOfKind, pathOf, wordFor, wordForMany } from '../kinds.ts'
import { withKube, withKubeconfig, withListOutput, withNamespace } from '../options.ts'
import { type ListFormat, renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { workspacesAs } from '../workspace/get.ts'
import { fetchRow, fetchTable, layOut } from './server-table.ts'

interface Options extends ObjectOptions {
  output: ListFormat
  allNamespaces?: boolean
  selector?: string
  owner?: string
}

export const verb = actionVerb({
  description: `List workspaces: their states, and what comes next or is wrong. Or objects of another kind, with the columns that kubectl shows: ${KIND_WORDS.join(', ')}; the names that the API has for these kinds are understood, too. With -o json or yaml a workspace is a row of that table, and others are printed as they are.`,
  examples: [
    ['berth get -n team-a', 'workspaces of a namespace'],
    ['berth get -A --owner ada@example.com', "one person's"],
    ['berth get web -n team-a -o json | jq -r .[].url', 'for scripts'],
    ['berth get claims -n team-a', 'of another kind'],
    ['berth get deployment/shop -o wide', 'one, with all columns'],
    ['berth get workspace claims', 'one that is called like a kind'],
  ],
  options: (command) =>
    withNamespace(
      withListOutput(withKubeconfig(command)).argument(
        '[what...]',
        'KIND, KIND NAME... or KIND/NAME...; else the name of a Workspace',
      ),
      'of one namespace',
    )
      .option('-A, --all-namespaces', 'of all namespaces')
      .option('-l, --selector <labels>', 'only those with these labels, such as team=web')
      .option('--owner <user>', 'only workspaces of this owner'),
  run: (shell, words: string[], options: Options, command: Command) => get(shell, wantedBy(words, command), options, command),
})

interface Wanted {
  kind: Kind
  /** All without any. */
  names: string[]
  /** Nobody said that a Workspace is meant. */
  isGuess?: boolean
}

/** Pure. The kind and the names that words mean; a wrong one ends the command line with the kinds that there are. */
function wantedBy(words: readonly string[], command: Command): Wanted {
  const [first, ...others] = words
  if (first === undefined) return { kind: Workspaces, names: [] }
  const [word = '', slash] = first.split('/')
  const kind = kindCalled(word)
  if (kind) return { kind, names: (slash === undefined ? others : words).map((each) => nameIn(each, kind, command)) }
  if (slash === undefined && others.length === 0) return { kind: Workspaces, names: [first], isGuess: true }
  command.error(`error: there is no kind '${word}'. ${KINDS}`)
}

const KINDS = `Kinds are ${KIND_WORDS.join(', ')}.`

function nameIn(text: string, kind: Kind, command: Command): string {
  try {
    return nameOfKind(kind)(text)
  } catch (thrown) {
    command.error(`error: '${text}': ${thrown instanceof Error ? thrown.message : ''}`)
  }
}

async function get(shell: Shell, wanted: Wanted, options: Options, command: Command): Promise<void> {
  const { kind, names, isGuess } = wanted
  if (names.length > 0 && options.selector !== undefined) command.error('error: names and --selector exclude each other.')
  if (kind !== Workspaces && options.owner !== undefined) command.error(`error: --owner is for workspaces, not ${kind.plural}.`)
  if (kind !== Workspaces && names.length > 0 && options.allNamespaces)
    command.error('error: an object has a name in one namespace: name that with -n instead of -A.')
  await withKube(shell, options, (kube) => {
    const listing: Listing = { shell, kube, names, options }
    if (kind !== Workspaces) return getObjects(listing, kind)
    return getWorkspaces(listing).catch((thrown: unknown) => Promise.reject(isGuess ? withKinds(thrown) : thrown))
  })
}

/** One word may have meant a kind. */
function withKinds(thrown: unknown): unknown {
  if (!isFailure(thrown, 'not-found') || thrown.reason !== undefined) return thrown
  const { message, remedy = '' } = thrown
  return new Failure('not-found', message, { cause: thrown, remedy: `${remedy} ${KINDS}`.trim() })
}

interface Listing {
  shell: Shell
  kube: Kube
  names: readonly string[]
  options: Options
}

async function getWorkspaces({ shell, kube, names, options }: Listing): Promise<void> {
  const { owner, output } = options
  const all = await objectsOf({ kube, names, options }, Workspaces)
  const shown = names.length > 0 ? all : all.filter(({ spec }) => owner === undefined || spec.owner === owner)
  if (shown.length === 0 && (output === 'table' || output === 'wide' || output === 'name')) sayNone(shell, Workspaces, options)
  else if (output === 'name') printNames(shell, Workspaces, shown)
  else shell.print(workspacesAs(output, shown, { shell, hasNamespaces: options.allNamespaces === true }))
}

/** Of a kind of which no more is known than its definition says. */
async function getObjects(listing: Listing, kind: Kind): Promise<void> {
  const { shell, names, options } = listing
  const { output } = options
  if (output === 'table' || output === 'wide') return showTable(listing, kind)
  const objects = await objectsOf(listing, kind)
  if (output === 'name') {
    if (objects.length === 0) sayNone(shell, kind, options)
    else printNames(shell, kind, objects)
    return
  }
  const items = objects.map(withoutManagers)
  shell.print(renderData(output, names.length === 1 ? items[0] : { apiVersion: 'v1', kind: 'List', items }))
}

const namespaceFor = ({ namespaced }: Kind, { allNamespaces, namespace }: Options): string | undefined =>
  namespaced && !allNamespaces ? namespace : undefined

async function objectsOf<T extends KubeObject>(
  { kube, names, options }: Pick<Listing, 'kube' | 'names' | 'options'>,
  kind: Kind<T>,
): Promise<T[]> {
  if (names.length > 0) return Promise.all(names.map((name) => findNamed(kube, kind, name, options)))
  return kube.list(kind, { namespace: namespaceFor(kind, options), labels: options.selector })
}

const findNamed = <T extends KubeObject>(kube: Kube, kind: Kind<T>, name: string, { namespace }: Options): Promise<T> =>
  findObject(kube, kind, { name, ...(kind.namespaced && { namespace }) }, `\`berth get ${wordForMany(kind)} -A\``)

async function showTable({ shell, kube, names, options }: Listing, kind: Kind): Promise<void> {
  const namespace = namespaceFor(kind, options)
  // Where one is not there, this says which ones are.
  for (const name of names) await findNamed(kube, kind, name, options)
  const rows = await Promise.all(names.map((name) => fetchRow(kube, kind, { name, namespace }, shell.signal)))
  const [first] = rows
  const found = first
    ? { ...first, rows: rows.flatMap((each) => each.rows) }
    : await fetchTable(kube, kind, { namespace, labels: options.selector }, shell.signal)
  if (found.rows.length === 0) return sayNone(shell, kind, options)
  const hasNamespaces = kind.namespaced && options.allNamespaces === true
  const { text, left } = layOut(found, { isWide: options.output === 'wide', hasNamespaces })
  shell.print(text)
  if (left.length > 0) shell.say(`Without ${left.join(', ')}, for which there is no room: -o wide shows all.\n`)
}

function printNames(shell: Shell, kind: Kind, objects: readonly KubeObject[]): void {
  for (const { metadata } of objects) shell.print(pathOf(kind, metadata.name))
}

function sayNone(shell: Shell, kind: Kind, options: Options): void {
  const namespace = namespaceFor(kind, options)
  const where = `${options.selector === undefined ? '' : ` with the labels ${options.selector}`}${namespace ? ` in namespace ${namespace}` : ''}`
  const advice = kind === Workspaces ? ' Make one with `berth create`.' : ''
  shell.say(`There is no ${wordFor(kind)}${where}.${advice}\n`)
}

/** kubectl does not show either who set which field, unless it is told to. */
const withoutManagers = ({ metadata, ...rest }: KubeObject) => ({
  ...rest,
  metadata: Object.fromEntries(Object.entries(metadata).filter(([field]) => field !== 'managedFields')),
})
