import { Composer, type CST, type Document, isAlias, isMap, isNode, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml'
import { beginningOf } from './text.ts'
import { CORE, LIKE_KUBERNETES } from './yaml-schema.ts'

interface YamlDocument {
  /** Line on which the document begins, from 1. */
  line: number
  value: unknown
  /** The places of what is tagged as a text and holds `${`: keys, and `[0]` in lists. An alias has none of its own. */
  texts?: readonly (readonly string[])[]
}

export interface YamlProblem {
  line: number
  column: number
  message: string
  /** It may be good YAML, but there is more of it than is read. */
  isTooLarge?: true
  /** For callers who have their own words for it: nested too deep, an alias without an anchor, or too many aliases. */
  about?: 'depth' | 'anchor' | 'aliases'
  /** It is good YAML, but a number cannot be that integer. */
  isLargeInteger?: true
}

export type YamlText =
  | { documents: YamlDocument[]; problem?: undefined }
  /** With the number of the document, from 1; those without content do not count. */
  | { problem: YamlProblem & { document: number }; documents?: undefined }

export interface YamlLimits {
  /** Of the whole text. */
  characters: number
  /** Words, signs, spaces and line breaks: what the time and the memory go by. */
  tokens: number
  /** Lists and mappings within one another. Whoever walks through a value does so on the stack. */
  depth: number
  /** Characters of one document after its aliases are followed, 16 for each value beside its own. */
  expanded: number
  /** Aliases of one document, each with those in what it stands for. */
  aliases: number
}

/** No API server takes an object of 2 MiB; the tokens are those of 50,000 ordinary lines. Together: less than 192 MiB. */
export const YAML_LIMITS: YamlLimits = {
  characters: 2 * 2 ** 20,
  tokens: 300_000,
  depth: 200,
  expanded: 16 * 2 ** 20,
  aliases: Number.POSITIVE_INFINITY,
}

/** `yaml-1.1`: what Kubernetes' own tools read. `core`: YAML 1.2, in which `on` is a text and `<<` a key like any other. */
export type YamlSchema = 'yaml-1.1' | 'core'

/** An alias may stand for much; more expansions than this are an attack. */
const MAX_ALIASES = 100

/**
 * Several documents in one text, read as Kubernetes' own tools do: YAML 1.1 without base-60 numbers and dates, so that
 * `0644` and `0o644` are octal, `on` is true, and `22:22` and `2024-01-01` stay texts. Documents without content are left out, and what JSON
 * has no value for (`!!binary`, `!!set`, tags of one's own, `.nan`) is a problem: another program would read something else.
 * Problems never quote the text: it may hold secrets. The limits hold before anything is built: time grows with the text.
 */
export function parseYaml(text: string, limits: Partial<YamlLimits> = {}): YamlText {
  const documents: YamlDocument[] = []
  for (const { document, at, texts, problem } of composeYaml(text, limits)) {
    const number = documents.length + 1
    if (problem) return { problem: { ...problem, document: number } }
    const begin = at(document.contents?.range?.[0] ?? 0)
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
      if (value !== null && value !== undefined) documents.push({ line: begin.line, value, ...(texts.length > 0 && { texts }) })
    } catch {
      return { problem: { ...begin, document: number, message: BAD_ALIAS } }
    }
  }
  return { documents }
}

export interface YamlPlace {
  line: number
  column: number
}

type Composed =
  | { document: Document.Parsed; at: (offset: number) => YamlPlace; texts: readonly string[][]; problem?: undefined }
  | { problem: YamlProblem; document?: undefined; at?: undefined; texts?: undefined }

/** The documents as the library has them, each within the limits; the first problem is the end. */
export function* composeYaml(
  text: string,
  limits: Partial<YamlLimits>,
  schema: YamlSchema = 'yaml-1.1',
): Generator<Composed, void> {
  const most = { ...YAML_LIMITS, ...limits }
  const lines = new LineCounter()
  const at = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const scan: Scan = {}
  const problem = ({ offset, ...flaw }: Flaw): Composed => ({ problem: { ...at(offset), ...flaw } })
  for (const document of new Composer(schema === 'core' ? CORE : LIKE_KUBERNETES).compose(tokensOf(text, lines, most, scan))) {
    const survey = surveyOf(document, most)
    const flaw = scan.flaw ?? survey.flaw
    if (flaw) return yield problem(flaw)
    yield { document, at, texts: survey.texts }
  }
  if (scan.flaw) yield problem(scan.flaw)
}

const NOT_PLAIN = 'Only what JSON has a value for is read: no !!binary, !!set or other tags, and no .nan or .inf'
const BAD_ALIAS = 'An alias leads nowhere or expands to too much'
const BAD_TAG = 'The value is not of the type that its tag says'
const BAD_TEXT = 'The text holds half of a character (one of \\ud800 to \\udfff)'
const BAD_NUMBER_KEY = 'A key that is such a number is read in several ways; put it in quotes'
const LARGE = 'is an integer beyond 2^53 that would not arrive as it is written; put it in quotes if it is a text'

type Flaw = Pick<YamlProblem, 'message' | 'isTooLarge' | 'isLargeInteger' | 'about'> & { offset: number }

interface Scan {
  flaw?: Flaw
}

/** Ends at a limit, before the rest is looked at. Nesting must be known here: composing it could exhaust the stack, fatally. */
function* tokensOf(text: string, lines: LineCounter, most: YamlLimits, scan: Scan): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const exceeds = (what: string, about?: 'depth') => {
    scan.flaw = { offset: parser.offset, message: `The document ${what}`, isTooLarge: true, ...(about && { about }) }
  }
  if (text.length > most.characters) return exceeds(`is larger than ${most.characters} characters`)
  let tokens = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > most.tokens) return exceeds(`consists of more than ${most.tokens} words, signs and spaces`)
    yield* parser.next(lexeme)
    if (parser.stack.length > most.depth) return exceeds(`is nested more than ${most.depth} deep`, 'depth')
  }
  yield* parser.end()
}

function surveyOf(document: Document.Parsed, most: YamlLimits): Survey {
  const survey: Survey = { anchors: new Map(), aliases: 0, most, steps: [], texts: [] }
  const [error] = document.errors
  if (error) blame(survey, { offset: error.pos[0], message: error.message })
  else weigh(document.contents, survey)
  return survey
}

interface Survey extends Scan {
  anchors: Map<string, Anchored>
  /** So many were followed so far. */
  aliases: number
  most: YamlLimits
  /** Keys and places in lists that lead to what is looked at. */
  steps: string[]
  texts: string[][]
}

/** The size of a value under an anchor: its characters, and the aliases in it. */
interface Anchored {
  weight: number
  aliases: number
}

/** Characters of a node with all that its aliases stand for. On the way, it finds what may not be. */
function weigh(node: unknown, survey: Survey): number {
  if (survey.flaw || node === null || node === undefined) return 0
  const offset = offsetOf(node)
  if (isAlias(node)) return weighAlias(survey, survey.anchors.get(node.source), offset)
  const why = whyNotPlain(node)
  if (why !== undefined) return blame(survey, { offset, message: why })
  if (isScalar(node) && typeof node.value === 'bigint')
    return blame(survey, { offset, message: `${fieldAt(survey)} ${LARGE}`, isLargeInteger: true })
  if (isScalar(node) && isTemplate(node)) survey.texts.push([...survey.steps])
  const { aliases, most } = survey
  const weight =
    16 + (isScalar(node) ? lengthOf(node.value) : isSeq(node) ? weighAll(node.items, survey) : weighMap(node, survey))
  if (weight > most.expanded) return blame(survey, { offset, message: BAD_ALIAS, isTooLarge: true })
  if (isNode(node) && node.anchor !== undefined) survey.anchors.set(node.anchor, { weight, aliases: survey.aliases - aliases })
  return weight
}

/** Replacing in it later must know what the tag said, which the value does not show. */
const isTemplate = ({ tag, value }: { tag?: string; value: unknown }): boolean =>
  (tag === '!' || tag === 'tag:yaml.org,2002:str') && typeof value === 'string' && value.includes('${')

function weighAlias(survey: Survey, anchored: Anchored | undefined, offset: number): number {
  if (!anchored) return blame(survey, { offset, message: BAD_ALIAS, about: 'anchor' })
  survey.aliases += 1 + anchored.aliases
  const most = survey.most.aliases
  if (survey.aliases <= most) return anchored.weight
  return blame(survey, { offset, message: `The document has more than ${most} aliases`, isTooLarge: true, about: 'aliases' })
}

/** A type has one tag here: the library makes a text of `!!float 1`, and of what is no integer after `!!int`. */
const TAG_OF: Record<string, string> = { string: 'str', number: 'int', bigint: 'int', boolean: 'bool', object: 'null' }

function whyNotPlain(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  const value = isScalar(node) ? node.value : undefined
  if (typeof value === 'number' && !Number.isFinite(value)) return NOT_PLAIN
  if (typeof value === 'string' && !value.isWellFormed()) return BAD_TEXT
  if (node.tag === undefined || node.tag === '!') return undefined
  const [, type] = /^tag:yaml\.org,2002:(str|int|bool|null|map|seq)$/.exec(node.tag) ?? []
  if (type === undefined) return NOT_PLAIN
  const own = isMap(node) ? 'map' : isSeq(node) ? 'seq' : TAG_OF[typeof value]
  return type === own ? undefined : BAD_TAG
}

function weighMap(node: unknown, survey: Survey): number {
  if (!isMap(node)) return 0
  const keys = new Set<unknown>()
  let weight = 0
  for (const { key, value } of node.items) {
    const message = whyNoKey(key) ?? (isScalar(key) && keys.size === keys.add(nameOf(key.value)).size ? SAME_KEYS : undefined)
    if (message !== undefined) blame(survey, { offset: offsetOf(key), message })
    const isLargeKey = isScalar(key) && typeof key.value === 'bigint'
    if (!isLargeKey) weight += weigh(key, survey)
    survey.steps.push(isScalar(key) ? String(key.value) : '')
    weight += weigh(value, survey)
    survey.steps.pop()
  }
  return weight
}

const SAME_KEYS = 'Map keys must be unique'

/** In JSON each key is a text. Merging is no key, and each of it another symbol. */
const nameOf = (value: unknown): unknown => (typeof value === 'symbol' ? value : String(value))

/** Where other programs refuse a key, or make another text of it. */
function whyNoKey(key: unknown): string | undefined {
  if (isSeq(key) || isMap(key)) return 'A key may not be a list or a mapping'
  if (key === null || (isScalar(key) && key.value === null)) return 'A key may not be empty; put it in quotes if it is a text'
  if (!isScalar(key)) return undefined
  const { value, source = '' } = key
  if (typeof value === 'bigint') return value < 2n ** 64n && value >= -(2n ** 63n) ? undefined : BAD_NUMBER_KEY
  const isFraction = typeof value === 'number' && /[.eE]/.test(source) && !/^[-+]?0x/i.test(source)
  return isFraction && !isShort(value) ? BAD_NUMBER_KEY : undefined
}

/** Go gives fractions six digits before it begins to write exponents. */
const isShort = (value: number): boolean =>
  value === Number(value.toPrecision(6)) && (value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6))

function weighAll(items: readonly unknown[], survey: Survey): number {
  let weight = 0
  for (const [at, item] of items.entries()) {
    survey.steps.push(`[${at}]`)
    weight += weigh(item, survey)
    survey.steps.pop()
  }
  return weight
}

/** As in `spec.ports[0]`. */
const fieldAt = ({ steps }: Survey): string => beginningOf(steps.join('.').replaceAll('.[', '[') || 'The value', 200)

function blame(survey: Survey, flaw: Flaw): number {
  survey.flaw ??= flaw
  return 0
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

const offsetOf = (node: unknown): number => (isNode(node) && node.range?.[0]) || 0
