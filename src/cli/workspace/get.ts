import type { Workspace } from '../../api/index.ts'
import { systemClock } from '../../std/index.ts'
import { type Column, type ListFormat, marked, renderData, table, WIDTH } from '../output.ts'
import type { Shell } from '../shell.ts'
import { markOf, noteOf, rowOf } from './row.ts'
import { since } from './time.ts'

interface Layout {
  shell: Shell
  hasNamespaces: boolean
}

/** Workspaces for people, or as data: a row each. */
export const workspacesAs = (
  format: Exclude<ListFormat, 'name'>,
  workspaces: readonly Workspace[],
  { shell, hasNamespaces }: Layout,
): string =>
  format === 'json' || format === 'yaml'
    ? renderData(format, workspaces.map(rowOf))
    : tableOf(shell, workspaces, { hasNamespaces, isWide: format === 'wide' })

function tableOf(
  { paint }: Shell,
  workspaces: readonly Workspace[],
  { hasNamespaces, isWide }: { hasNamespaces: boolean; isWide: boolean },
): string {
  const now = systemClock.now()
  const rows = workspaces
    .map((workspace) => ({ row: rowOf(workspace), note: noteOf(workspace, now) }))
    .sort((a, b) => (`${a.row.namespace} ${a.row.name}` < `${b.row.namespace} ${b.row.name}` ? -1 : 1))
  const more: Column<(typeof rows)[number]>[] = [
    { title: 'CLASS', of: ({ row }) => row.class },
    { title: 'URL', of: ({ row }) => row.url },
  ]
  return table(
    rows,
    [
      ...(hasNamespaces ? [{ title: 'NAMESPACE', of: ({ row }: (typeof rows)[number]) => row.namespace }] : []),
      { title: 'NAME', of: ({ row }) => row.name },
      { title: 'STATE', of: ({ row }) => row.state, paint: ({ row }, text) => marked(markOf(row), text, paint) },
      { title: 'AGE', of: ({ row }) => since(row.createdAt, now) },
      { title: 'OWNER', of: ({ row }) => row.owner },
      ...(isWide ? more : []),
      { title: 'NOTE', of: ({ note }) => note },
    ],
    isWide ? Number.POSITIVE_INFINITY : WIDTH,
  )
}
