import type { Command } from 'commander'
import { type Workspace, Workspaces } from '../../api/index.ts'
import { systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { examples, withKube, withKubeconfig, withOutput } from '../options.ts'
import { type Format, marked, renderData, table } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { markOf, noteOf, rowOf } from '../workspace/row.ts'
import { since } from '../workspace/time.ts'
import { type WorkspaceOptions, withWorkspaceAtHand } from '../workspace/workspace.ts'

interface Options extends WorkspaceOptions {
  allNamespaces?: boolean
  owner?: string
  output: Format
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withKubeconfig(command))
      .argument('[name]', 'of one Workspace; all of the namespace without it')
      .description('List workspaces: their states, and what comes next or is wrong.')
      .option('-n, --namespace <name>', 'of one namespace', 'default')
      .option('-A, --all-namespaces', 'of all namespaces')
      .option('--owner <user>', 'only those of this owner')
      .addHelpText(
        'after',
        examples(
          ['berth get -n team-a', 'of a namespace'],
          ['berth get -A --owner ada@example.com', "one person's"],
          ['berth get web -n team-a -o json | jq -r .[].url', 'for scripts'],
        ),
      )
      .action(finish((name: string | undefined, options: Options) => get(shell, name, options)))
  },
}

function get(shell: Shell, name: string | undefined, options: Options): Promise<ExitCode> {
  if (name !== undefined)
    return withWorkspaceAtHand(shell, name, options, async ({ workspace }) => show(shell, [workspace], options))
  return withKube(shell, options, async (kube) => {
    const all = await kube.list(Workspaces, options.allNamespaces ? {} : { namespace: options.namespace })
    return show(
      shell,
      all.filter(({ spec }) => options.owner === undefined || spec.owner === options.owner),
      options,
    )
  })
}

function show(shell: Shell, workspaces: Workspace[], { output, allNamespaces, namespace }: Options): ExitCode {
  if (output !== 'table') shell.print(renderData(output, workspaces.map(rowOf)))
  else if (workspaces.length > 0) shell.print(tableOf(shell, workspaces, allNamespaces === true))
  else shell.say(`There is no workspace${allNamespaces ? '' : ` in namespace ${namespace}`}. Make one with \`berth create\`.\n`)
  return exitCodes.ok
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
