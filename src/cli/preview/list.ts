import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import {
  annotations,
  conditionOf,
  type Environment,
  Environments,
  FOREVER,
  keyOf,
  labels,
  nameOf,
  type Preview,
  Previews,
} from '../../api/index.ts'
import { harmlessLine, systemClock } from '../../std/index.ts'
import { findObject, type ObjectOptions } from '../find-object.ts'
import { nameOfKind } from '../kinds.ts'
import { type OutputOptions, unlessForbidden, withKube, withKubeconfig, withNamespace, withOutput } from '../options.ts'
import { type Column, fitting, marked, renderData, table } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { until } from '../workspace/time.ts'
import { LIST, shortCommit } from './branch.ts'

interface Options extends ObjectOptions, OutputOptions {
  allNamespaces?: boolean
}

export const list = actionVerb({
  description:
    'List the environments of Previews with their branches, how each does, and when it expires; then the branches whose environment has expired, and those that wait for room. With -o json or yaml each line is a row.',
  examples: [
    ['berth preview list -n team-a', 'of all Previews of a namespace'],
    ['berth preview list shop -o json | jq -r .[].branch', 'for scripts'],
  ],
  options: (command) =>
    withNamespace(
      withOutput(withKubeconfig(command)).argument('[preview]', 'only of this Preview', nameOfKind(Previews)),
      'of one namespace',
    ).option('-A, --all-namespaces', 'of all namespaces'),
  run: (shell, name: string | undefined, options: Options, command: Command) => {
    if (name !== undefined && options.allNamespaces)
      command.error('error: a Preview has a name in one namespace: name that with -n instead of -A.')
    return withKube(shell, options, (kube) => listBranches(shell, kube, name, options))
  },
})

async function listBranches(shell: Shell, kube: Kube, name: string | undefined, options: Options): Promise<void> {
  const { namespace, allNamespaces = false, output } = options
  const scope = allNamespaces ? {} : { namespace }
  const previews =
    name === undefined ? await kube.list(Previews, scope) : [await findObject(kube, Previews, { name, namespace }, LIST)]
  const keeps = await keepsIn(kube, { ...scope, labels: name === undefined ? labels.preview : `${labels.preview}=${name}` })
  const rows = previews.flatMap((preview) => rowsOf(preview, keeps))
  if (output !== 'table') return shell.print(renderData(output, rows))
  if (previews.length === 0) shell.say(`There is no preview${allNamespaces ? '' : ` in namespace ${namespace}`}.\n`)
  if (rows.length > 0) showTable(shell, rows, allNamespaces)
  for (const preview of previews) for (const line of remarksOn(preview)) shell.say(`${harmlessLine(line)}\n`)
}

/** What people have written on Environments, by their keys; nothing where the person may not look. */
async function keepsIn(kube: Kube, query: { namespace?: string; labels: string }): Promise<Map<string, string>> {
  const found: Environment[] = (await unlessForbidden(() => kube.list(Environments, { ...query, metadataOnly: true }))) ?? []
  return new Map(
    found.flatMap(({ metadata }) => {
      const keep = metadata.annotations?.[annotations.previewKeep]
      return keep === undefined ? [] : [[keyOf(metadata), keep]]
    }),
  )
}

interface Row {
  namespace: string
  preview: string
  branch: string
  /** Nothing where it has expired, or waits for room. */
  environment?: string
  state: string
  message?: string
  commit: string
  since?: string
  expires?: string
  keep?: string
}

/** Pure. */
function rowsOf({ metadata, status }: Preview, keeps: ReadonlyMap<string, string>): Row[] {
  const { name: preview, namespace = '' } = metadata
  const live = (status?.environments ?? []).map(({ name, ready, reason, ...entry }): Row => {
    const keep = keeps.get(keyOf({ name, namespace }))
    return {
      namespace,
      preview,
      environment: name,
      state: ready ? 'Ready' : reason,
      ...entry,
      ...(keep !== undefined && { keep }),
    }
  })
  const gone = (status?.expired ?? []).map((entry): Row => ({ namespace, preview, state: 'Expired', ...entry }))
  const waiting = (status?.waiting ?? []).map((entry): Row => ({ namespace, preview, state: 'Waiting', ...entry }))
  return [...live, ...gone, ...waiting]
}

const NEEDED = ['NAMESPACE', 'PREVIEW', 'BRANCH', 'STATE', 'EXPIRES']

function showTable({ print, say, paint }: Shell, rows: readonly Row[], hasNamespaces: boolean): void {
  const now = systemClock.now()
  const columns: Column<Row>[] = [
    ...(hasNamespaces ? [{ title: 'NAMESPACE', of: ({ namespace }: Row) => namespace }] : []),
    { title: 'PREVIEW', of: ({ preview }) => preview },
    { title: 'BRANCH', of: ({ branch }) => branch },
    { title: 'ENVIRONMENT', of: ({ environment }) => environment ?? '' },
    {
      title: 'STATE',
      of: ({ state }) => state,
      paint: ({ state }, text) => marked(state === 'Ready' ? 'ok' : 'warn', text, paint),
    },
    { title: 'COMMIT', of: ({ commit }) => shortCommit(commit) },
    { title: 'EXPIRES', of: (row) => expiryOf(row, now) },
  ]
  const kept = fitting(columns, rows, NEEDED)
  print(table(rows, kept))
  const left = columns.filter((column) => !kept.includes(column)).map(({ title }) => title)
  if (left.length > 0) say(`Without ${left.join(', ')}, for which there is no room: -o json has all.\n`)
}

/** A time by which somebody keeps it counts where the Preview itself would have let it go by then. */
function expiryOf({ expires, keep = '' }: Row, now: number): string {
  const kept = Date.parse(keep)
  if (keep === FOREVER || (kept > now && kept >= Date.parse(expires ?? keep))) return 'kept'
  return expires === undefined ? '-' : until(expires, now)
}

function remarksOn(preview: Preview): string[] {
  const { spec, status } = preview
  const { environments = [], expired = [], counts, conditions } = status ?? {}
  const ready = conditionOf(conditions, 'Ready')
  const isEmpty = environments.length + expired.length === 0
  const held = conditionOf(conditions, 'RemovalHeld')
  const why = ready && ready.status !== 'True' ? `: ${ready.reason}: ${ready.message}` : '.'
  const waiting = counts?.waiting ?? 0
  return [
    ...(isEmpty ? [`${nameOf(preview)} has no environments${why}`] : []),
    ...(held?.status === 'True' ? [`${nameOf(preview)}: RemovalHeld: ${held.message}`] : []),
    ...(waiting > 0
      ? [
          `${nameOf(preview)}: ${waiting === 1 ? 'a branch waits' : `${waiting} branches wait`} for room; spec.maxEnvironments is ${spec.maxEnvironments}.`,
        ]
      : []),
  ]
}
