import { type Document, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml'
import { Failure, isFailure } from '../std/index.ts'
import { DEEPEST } from './cursor.ts'
import { type Finding, type Findings, problemAt } from './problem.ts'
import type { Mapping, Origin, Scalar, Spot, Tree } from './tree.ts'

/** Aliases can be nested so that a short text means a huge one. No honest devfile has as many as this. */
const MOST_ALIASES = 100
const MOST_NODES = 100_000

interface Reading {
  origin: Origin
  document: Document
  findings: Findings
  aliases: number
  nodes: number
  depth: number
}

/** Reads all of YAML 1.2 by the library, and is the one that says what is wrong with a text that is none. */
export function readByLibrary(origin: Origin, findings: Findings): Tree | undefined {
  const document = parsed(origin, findings)
  if (!document) return undefined
  for (const { message, pos } of document.errors)
    findings.problems.push(problemAt({ origin, at: pos[0] }, '', { rule: 'yaml', message: wordsOf(message) }))
  if (document.errors.length > 0) return undefined
  try {
    return treeOf({ origin, document, findings, aliases: 0, nodes: 0, depth: 0 }, document.contents)
  } catch (thrown) {
    if (!isFailure(thrown, 'too-large')) throw thrown
    return undefined
  }
}

function parsed(origin: Origin, findings: Findings): Document | undefined {
  try {
    return parseDocument(origin.text, { version: '1.2', prettyErrors: false })
  } catch (thrown) {
    findings.problems.push(problemAt({ origin, at: 0 }, '', { rule: 'yaml', message: wordsOf(Failure.from(thrown).message) }))
    return undefined
  }
}

/** The library descends by recursion, and thousands of brackets are deeper than any stack. */
const wordsOf = (message: string): string =>
  /call stack|stack overflow/i.test(message) ? 'it is nested too deep' : (message.split('\n')[0] ?? '')

/** Thrown once what is wrong has been noted: the rest of the text is not worth reading. */
function refuse({ findings }: Reading, spot: Spot, finding: Finding): never {
  findings.problems.push(problemAt(spot, '', finding))
  throw new Failure('too-large', finding.message)
}

function treeOf(reading: Reading, node: unknown): Tree {
  const { origin } = reading
  const spot = { origin, at: startOf(node) }
  reading.nodes++
  if (reading.nodes > MOST_NODES) refuse(reading, spot, { rule: 'size', message: `more than ${MOST_NODES} values are not read` })
  if (isScalar(node)) return scalarOf(spot, node.value, node.source)
  if (isAlias(node)) {
    reading.aliases++
    const found = node.resolve(reading.document)
    if (reading.aliases > MOST_ALIASES)
      refuse(reading, spot, {
        rule: 'aliases',
        message: `more than ${MOST_ALIASES} aliases are not read`,
        remedy: 'write the values out',
      })
    return deeper(reading, spot, () => treeOf(reading, found))
  }
  if (isSeq(node))
    return deeper(reading, spot, () => ({ kind: 'list', ...spot, items: node.items.map((item) => treeOf(reading, item)) }))
  if (!isMap(node)) return scalarOf(spot, null, '')
  const entries: Mapping['entries'] = new Map()
  return deeper(reading, spot, () => {
    for (const { key, value } of node.items)
      entries.set(keyOf(key), { key: { origin, at: startOf(key) }, value: treeOf(reading, value) })
    return { kind: 'map', ...spot, entries }
  })
}

/** An anchor inside of which it is referred to would go on for ever. */
function deeper(reading: Reading, spot: Spot, read: () => Tree): Tree {
  reading.depth++
  if (reading.depth > DEEPEST)
    refuse(reading, spot, { rule: 'yaml', message: 'it is nested too deep, or an anchor refers to itself' })
  const tree = read()
  reading.depth--
  return tree
}

const startOf = (node: unknown): number => (isNode(node) && node.range?.[0]) || 0

const keyOf = (key: unknown): string => (isScalar(key) ? (key.source ?? String(key.value)) : String(key))

function scalarOf(spot: Spot, value: unknown, source: string | undefined): Scalar {
  const plain = typeof value === 'bigint' ? Number(value) : value
  const isPlain = typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean'
  return { kind: 'scalar', ...spot, value: isPlain ? plain : null, source: typeof plain === 'string' ? plain : (source ?? '') }
}
