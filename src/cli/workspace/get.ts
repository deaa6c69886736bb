import { type Workspace, Workspaces } from '../../api/index.ts'
import { systemClock } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withKube, withKubeconfig, withNamespace, withOutput } from '../options.ts'
import { marked, renderData, table } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { markOf, noteOf, rowOf } from './row.ts'
import { since } from './time.ts'
import { onWorkspace } from './workspace.ts'

interface Options extends ObjectOptions, OutputOptions {
  allNamespaces?: boolean
  owner?: string
}

export const verb = actionVerb({
  description: 'List workspaces: their states, and what comes next or is wrong.',
  examples: [
    ['berth get -n team-a', 'of a namespace'],
    ['berth get -A --owner ada@example.com', "one person's"],
    ['berth get web -n team-a -o json | jq -r .[].url', 'for scripts'],
  ],
  options: (command) =>
    withNamespace(
      withOutput(withKubeconfig(command)).argument('[name]', 'of one Workspace; all of the namespace without it'),
      'of one namespace',
    )
      .option('-A, --all-namespaces', 'of all namespaces')
      .option('--owner <user>', 'only those of this owner'),
  run: (shell, name: string | undefined, options: Options) =>
    name === undefined ? list(shell, options) : getOne(shell, name, options),
})

const getOne = onWorkspace(async ({ shell, workspace }, options: Options) => show(shell, [workspace], options))

const list = (shell: Shell, options: Options): Promise<void> =>
  withKube(shell, options, async (kube) => {
    const all = await kube.list(Workspaces, options.allNamespaces ? {} : { namespace: options.namespace })
    const shown = all.filter(({ spec }) => options.owner === undefined || spec.owner === options.owner)
    show(shell, shown, options)
  })

function show(shell: Shell, workspaces: Workspace[], { output, allNamespaces, namespace }: Options): void {
  if (output !== 'table') shell.print(renderData(output, workspaces.map(rowOf)))
  else if (workspaces.length > 0) shell.print(tableOf(shell, workspaces, allNamespaces === true))
  else shell.say(`There is no workspace${allNamespaces ? '' : ` in namespace ${namespace}`}. Make one with \`berth create\`.\n`)
}

function tableOf({ paint }: Shell, workspaces: Workspace[], all: boolean): string {
  const now = systemClock.now()
  const rows = workspaces
    .map((workspace) => ({ row: rowOf(workspace), note: noteOf(workspace, now) }))
    .sort((a, b) => (`${a.row.namespace} ${a.row.name}` < `${b.row.namespace} ${b.row.name}` ? -1 : 1))
  return table(rows, [
    ...(all ? [{ title: 'NAMESPACE', of: ({ row }: (typeof rows)[number]) => row.namespace }] : []),
    { title: 'NAME', of: ({ row }) => row.name },
    { title: 'STATE', of: ({ row }) => row.state, paint: ({ row }, text) => marked(markOf(row), text, paint) },
    { title: 'AGE', of: ({ row }) => since(row.createdAt, now) },
    { title: 'OWNER', of: ({ row }) => row.owner },
    { title: 'NOTE', of: ({ note }) => note },
  ])
}
