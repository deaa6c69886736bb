import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node } from 'yaml'
import type { Problem } from './problem.ts'
import { type Fill, filled } from './variables.ts'

/** What every place in a document shares: the text, what was found wrong in it, and the devfile's variables. */
export interface Sheet {
  document: Document
  lines: LineCounter
  problems: Problem[]
  warnings: Problem[]
  fill: Fill
  aliases: number
}

/** Aliases can be nested so that a short text means a huge one. No honest devfile has as many as this. */
const MOST_ALIASES = 100

/**
 * A place in the document: what is there, and how it is called. Reading never throws: it notes a problem and answers
 * `undefined` or the default, so that one run finds every mistake.
 */
export class Place {
  readonly #sheet: Sheet
  readonly #node: Node | undefined
  /** The key itself where the value is missing, so that a position is always known. */
  readonly #anchor: Node | undefined
  readonly path: string

  constructor(sheet: Sheet, node: unknown, path: string, anchor?: Node) {
    this.#sheet = sheet
    this.#node = resolved(sheet, node)
    this.#anchor = this.#node ?? anchor
    this.path = path
  }

  get exists(): boolean {
    return this.#node !== undefined && !(isScalar(this.#node) && this.#node.value === null)
  }

  problem(message: string): undefined {
    this.#sheet.problems.push(this.#note(message))
  }

  warning(message: string): undefined {
    this.#sheet.warnings.push(this.#note(message))
  }

  #note(message: string): Problem {
    const { line, col } = this.#sheet.lines.linePos(this.#anchor?.range?.[0] ?? 0)
    return { line: Math.max(1, line), column: Math.max(1, col), path: this.path, message }
  }

  at(key: string): Place {
    const path = this.path ? `${this.path}.${key}` : key
    const value = isMap(this.#node) ? this.#node.get(key, true) : undefined
    return new Place(this.#sheet, value, path, this.#anchor)
  }

  keys(): string[] {
    return isMap(this.#node) ? this.#node.items.map(({ key }) => (isScalar(key) ? String(key.value) : String(key))) : []
  }

  /** The mapping with these keys and no others; `undefined` when it is no mapping. */
  mapping(known: readonly string[]): Place | undefined {
    if (!isMap(this.#node)) return this.problem('must be a mapping')
    for (const key of this.keys()) {
      if (!known.includes(key)) this.at(key).problem(`there is no such field; the fields here are ${known.join(', ')}`)
    }
    return this
  }

  list(): Place[] {
    if (!this.exists) return []
    if (isSeq(this.#node))
      return this.#node.items.map((item, i) => new Place(this.#sheet, item, `${this.path}[${i}]`, this.#anchor))
    this.problem('must be a list')
    return []
  }

  text(): string | undefined {
    if (!this.exists) return undefined
    const value = isScalar(this.#node) ? this.#node.value : undefined
    if (typeof value === 'string') return value
    // 1.50 and 0x10 are numbers to YAML; what the author wrote is what they meant.
    if (isScalar(this.#node) && (typeof value === 'number' || typeof value === 'bigint'))
      return this.#node.source ?? String(value)
    return this.problem(typeof value === 'boolean' ? `must be a text; put quotes around ${value}` : 'must be a text')
  }

  /** A text in which `{{ name }}` stands for a variable of the devfile. */
  filledText(): string | undefined {
    const text = this.text()
    return text === undefined
      ? undefined
      : filled(text, this.#sheet.fill, (name) => void this.warning(`there is no variable "${name}"`))
  }

  required<T>(value: T | undefined): T | undefined {
    if (!this.exists) this.problem('is missing')
    return value
  }

  flag(otherwise: boolean): boolean {
    if (!this.exists) return otherwise
    if (isScalar(this.#node) && typeof this.#node.value === 'boolean') return this.#node.value
    this.problem('must be true or false')
    return otherwise
  }

  integer(least: number, most: number): number | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    return this.exists ? this.problem(`must be a whole number from ${least} to ${most}`) : undefined
  }

  oneOf<const T extends string>(words: readonly T[], otherwise: T): T {
    const text = this.text()
    const word = words.find((each) => each === text)
    if (text !== undefined && word === undefined) this.problem(`"${text}" is none of ${words.join(', ')}`)
    return word ?? otherwise
  }

  matching(pattern: RegExp, rule: string): string | undefined {
    const text = this.text()
    return text === undefined || pattern.test(text) ? text : this.problem(`"${text}" ${rule}`)
  }
}

function resolved(sheet: Sheet, node: unknown): Node | undefined {
  if (isAlias(node)) return resolvedAlias(sheet, node)
  return isMap(node) || isSeq(node) || isScalar(node) ? node : undefined
}

function resolvedAlias(sheet: Sheet, alias: Alias): Node | undefined {
  sheet.aliases += 1
  if (sheet.aliases <= MOST_ALIASES) return alias.resolve(sheet.document)
  if (sheet.aliases === MOST_ALIASES + 1) {
    const { line, col } = sheet.lines.linePos(alias.range?.[0] ?? 0)
    sheet.problems.push({
      line,
      column: col,
      path: '',
      message: `more than ${MOST_ALIASES} aliases are not read; write the values out`,
    })
  }
  return undefined
}
