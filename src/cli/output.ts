import { Document, type Scalar, visit } from 'yaml'
import { harmless, harmlessLine, isHarmless } from '../std/index.ts'
import { type Paint, plain } from './shell.ts'

export const FORMATS = ['table', 'json', 'yaml'] as const
export type OutputFormat = (typeof FORMATS)[number]

/** `wide` has all columns, `name` one name a line, as `KIND/NAME`. */
export const LIST_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const
export type ListFormat = (typeof LIST_FORMATS)[number]

export interface Column<Row> {
  title: string
  of: (row: Row) => string
  /** Colours a cell; it is called with the padded text. */
  paint?: (row: Row, text: string) => string
}

/** Prints the same data for people (`table`) or for programs (`json`, `yaml`). */
export function render<Row extends object>(format: OutputFormat, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return format === 'table' ? table(rows, columns) : renderData(format, rows)
}

/** The data as they are: what a terminal would obey is written in the escapes of the format, so that nothing is lost. */
export const renderData = (format: 'json' | 'yaml', data: unknown): string =>
  harmless(format === 'json' ? JSON.stringify(data, undefined, 2) : yamlOf(data))

/** Only between double quotes YAML knows escapes. */
function yamlOf(data: unknown): string {
  const document = new Document(data, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, scalar: Scalar) => {
      if (typeof scalar.value === 'string' && !isHarmless(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 }).trimEnd()
}

/** Texts for people fit in so many columns. */
export const WIDTH = 80
const GAP = 2

/** With less room than this the last column goes on a line of its own. */
const ROOM = 32
const INDENT = 4

/** A table no wider than a terminal of 80 columns: the last column wraps, below the others where they leave no room beside them. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width = WIDTH): string {
  const cells = rows.map((row) => columns.map((column) => harmlessLine(column.of(row))))
  const widths = columns.map((column, at) => Math.max(column.title.length, ...cells.map((line) => line[at]?.length ?? 0)))
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP, 0)
  const longest = widths.at(-1) ?? 0
  const isBelow = width - before < Math.min(ROOM, longest)
  const indent = isBelow ? INDENT : before
  const titles = isBelow ? columns.slice(0, -1) : columns
  const head = titles.map((column, at) => column.title.padEnd(widths[at] ?? 0)).join(' '.repeat(GAP))
  const body = rows.flatMap((row, index) => {
    const line = cells[index] ?? []
    const fixed = line.slice(0, -1).map((cell, at) => painted(columns[at], row, cell.padEnd(widths[at] ?? 0)))
    const last = wrap(line.at(-1) ?? '', width - indent).map((part) => painted(columns.at(-1), row, part))
    const hanging = (parts: string[]) => parts.map((part) => ' '.repeat(indent) + part)
    const [first = '', ...others] = last
    return isBelow
      ? [fixed.join(' '.repeat(GAP)), ...hanging(last)]
      : [[...fixed, first].join(' '.repeat(GAP)), ...hanging(others)]
  })
  return [head, ...body].map((line) => line.trimEnd()).join('\n')
}

/** The columns for which a table of 80 columns has room. Of those that are not needed the widest go first: addresses, hashes, paths. */
export function fitting<Row>(columns: readonly Column<Row>[], rows: readonly Row[], needed: readonly string[]): Column<Row>[] {
  const sized = columns.map((column) => ({ column, width: widthOf(column, rows) }))
  const spare = sized.filter(({ column }) => !needed.includes(column.title)).toSorted((one, other) => other.width - one.width)
  let kept = sized
  for (const widest of spare) {
    if (kept.reduce((sum, { width }) => sum + width + GAP, -GAP) <= WIDTH) break
    kept = kept.filter((each) => each !== widest)
  }
  return kept.map(({ column }) => column)
}

const widthOf = <Row>({ title, of }: Column<Row>, rows: readonly Row[]): number =>
  rows.reduce((most, row) => Math.max(most, harmlessLine(of(row)).length), title.length)

const painted = <Row>(column: Column<Row> | undefined, row: Row, text: string): string => column?.paint?.(row, text) ?? text

/** Lines of at most `width` characters, broken at blanks; a longer word stays whole, so that it can be copied. */
export function wrap(text: string, width = WIDTH): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of harmlessLine(text).split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line ? `${line} ${word}` : word
    }
  }
  return [...lines, line]
}

/** With a full stop, so that another sentence may follow. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** A summary as a sentence. */
export const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

export type FindingMark = 'ok' | 'warn' | 'fail'

const COLOUR_OF = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export const marked = (mark: FindingMark, text: string, paint: Paint = plain): string =>
  paint(COLOUR_OF[mark], harmlessLine(text))
