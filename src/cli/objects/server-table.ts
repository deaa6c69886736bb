import type { Kube, ListQuery } from '../../adapters/kube/index.ts'
import type { Kind, ObjectMeta, Ref } from '../../api/index.ts'
import { harmlessLine } from '../../std/index.ts'
import { type Column, fitting, table, WIDTH } from '../output.ts'

const AS_TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const PAGE = 500

/** The API server's own answer for people: its columns are those that the definition of the kind prints. */
interface ServerTable {
  metadata?: { continue?: string }
  /** Columns with a priority are for those who ask for all. */
  columnDefinitions: { name: string; priority: number }[]
  rows: TableRow[]
}

interface TableRow {
  cells: unknown[]
  object: { metadata: ObjectMeta }
}

/** Asks for objects as a table, page by page; anew where the rest is not to be had any more. */
export async function fetchTable(kube: Kube, kind: Kind, query: ListQuery, signal: AbortSignal): Promise<ServerTable> {
  const { listPath, orBegunAnew } = await import('../../adapters/kube/index.ts')
  const fetch = (next: string | undefined) =>
    kube.read<ServerTable>(listPath(kind, query, { limit: PAGE, continue: next }), {
      accept: AS_TABLE,
      about: kind.plural,
      signal,
    })
  return orBegunAnew(async () => {
    const all = await fetch(undefined)
    for (let next = all.metadata?.continue; next; ) {
      const page = await fetch(next)
      for (const row of page.rows) all.rows.push(row)
      next = page.metadata?.continue
    }
    return all
  })
}

/** Asks for one object as a table of one row. */
export async function fetchRow(kube: Kube, kind: Kind, ref: Ref, signal: AbortSignal): Promise<ServerTable> {
  const { objectPath } = await import('../../adapters/kube/index.ts')
  return kube.read<ServerTable>(objectPath(kind, ref), { accept: AS_TABLE, about: `${kind.kind} ${ref.name}`, signal })
}

interface Layout {
  isWide: boolean
  hasNamespaces: boolean
}

/** Pure. The table as text, and the titles of the columns that found no room in 80 columns. */
export function layOut({ columnDefinitions, rows }: ServerTable, { isWide, hasNamespaces }: Layout) {
  const columns: Column<TableRow>[] = columnDefinitions.flatMap(({ name, priority }, at) =>
    priority === 0 || isWide ? [{ title: name.toUpperCase(), of: ({ cells }) => textOf(cells[at]) }] : [],
  )
  if (hasNamespaces) columns.unshift({ title: 'NAMESPACE', of: ({ object }) => object.metadata.namespace ?? '' })
  const kept = isWide ? columns : fitting(columns, rows, NEEDED)
  const left = columns.filter((column) => !kept.includes(column)).map(({ title }) => title)
  return { text: table(rows, kept, isWide ? Number.POSITIVE_INFINITY : WIDTH), left }
}

const textOf = (cell: unknown): string => (cell === null || cell === undefined ? '' : harmlessLine(String(cell)))

/** What it is called, and how it is: without these a line says nothing. */
const NEEDED = ['NAMESPACE', 'NAME', 'PHASE', 'STATE', 'READY', 'REASON']
