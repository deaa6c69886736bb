import { isMetadata } from './metadata.ts'
import type { Leaf } from './open.ts'
import { isEncryptedValue, type Plain } from './values.ts'

/** A file of lines, each with a key and a value: what is authenticated of it, and its lines. */
export interface FlatFile {
  metadata: Record<string, unknown>
  leaves: readonly Leaf[]
  lines: readonly FlatLine[]
  /** As SOPS writes a value into such a line. */
  write(text: string): string
}

export interface FlatLine {
  /** With the key and what stands between it and the value; all of a line that has no value. */
  begin: string
  /** Encrypted, if so. */
  value: string
}

/** The text of a file with what was encrypted in it. */
export const plainText = ({ lines, write }: FlatFile, plains: ReadonlyMap<string, Plain>): string =>
  lines
    .map(({ begin, value }) => {
      const plain = plains.get(value)
      return `${begin}${plain ? write(plain.bytes.toString('utf8')) : value}\n`
    })
    .join('')

const PREFIX = 'sops_'

/** Lines of `KEY=value`; `undefined` where SOPS has not encrypted it. */
export function dotenvFile(text: string): FlatFile | undefined {
  const flat: [string, string][] = []
  const leaves: Leaf[] = []
  const lines: FlatLine[] = []
  for (const line of text.split('\n')) {
    const at = line.indexOf('=')
    if (line.startsWith('#') || at < 0) {
      // SOPS encrypts comments as well, and nobody misses them.
      if (line !== '' && !isEncryptedValue(line.slice(1))) lines.push({ begin: line, value: '' })
      continue
    }
    const [key, value] = [line.slice(0, at), line.slice(at + 1)]
    if (key.startsWith(PREFIX)) {
      flat.push([key.slice(PREFIX.length), value.replaceAll('\\n', '\n')])
      continue
    }
    leaves.push({ path: `${key}:`, text: value.replaceAll('\\n', '\n') })
    lines.push({ begin: `${key}=`, value })
  }
  const metadata = unflattened(flat)
  return isMetadata(metadata) ? { metadata, leaves, lines, write: (plain) => plain.replaceAll('\n', '\\n') } : undefined
}

/** Sections with keys; `undefined` where SOPS has not encrypted it. */
export function iniFile(text: string): FlatFile | undefined {
  const flat: [string, string][] = []
  const leaves: Leaf[] = []
  const lines: FlatLine[] = []
  let section = 'DEFAULT'
  for (const written of text.split('\n')) {
    const line = written.trim()
    if (line.startsWith('[') && line.endsWith(']')) section = line.slice(1, -1).trim()
    const isSops = section === 'sops'
    const at = line.search(/[=:]/)
    if (line === '' || line.startsWith(';') || line.startsWith('#') || line.startsWith('[') || at < 0) {
      const comment = line.replace(/^[;#] ?/, '')
      if (!isSops && !isEncryptedValue(comment)) lines.push({ begin: line, value: '' })
      continue
    }
    const [key, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    if (isSops) flat.push([key, unquoted(value).replaceAll('\\n', '\n')])
    else {
      leaves.push({ path: `${section}:${key}:`, text: unquoted(value) })
      lines.push({ begin: `${key} = `, value })
    }
  }
  const metadata = unflattened(flat)
  return isMetadata(metadata) ? { metadata, leaves, lines, write: quoted } : undefined
}

const QUOTES = ['"""', '`', '"', "'"]

function unquoted(value: string): string {
  const quote = QUOTES.find((sign) => value.length >= 2 * sign.length && value.startsWith(sign) && value.endsWith(sign))
  return quote === undefined ? value : value.slice(quote.length, -quote.length)
}

/** As the library in Go that SOPS has. */
function quoted(plain: string): string {
  if (plain.includes('\n') || plain.includes('`')) return `"""${plain}"""`
  return plain.includes('#') || plain.includes(';') || plain.trim() !== plain ? `\`${plain}\`` : plain
}

type Node = Map<string, Node | string>

/** Of `age__list_0__map_enc` the text at `enc` of the first of the list `age`. */
function unflattened(flat: readonly (readonly [string, string])[]): unknown {
  const root: Node = new Map()
  for (const [path, text] of flat) {
    const steps = path.split(/__(?=(?:map|list)_)/).slice(0, MOST_STEPS)
    const last = steps.pop() ?? ''
    let node = root
    for (const step of steps) {
      const next = node.get(step)
      const inner: Node = next instanceof Map ? next : new Map()
      node.set(step, inner)
      node = inner
    }
    node.set(last, text)
  }
  return grown(root)
}

/** Metadata are two lists deep at most. */
const MOST_STEPS = 8

function grown(node: Node | string): unknown {
  if (typeof node === 'string') return node
  const entries = [...node].map(([step, inner]): [string, unknown] => [step, grown(inner)])
  if (entries.every(([step]) => step.startsWith('list_'))) return entries.map(([, inner]) => inner)
  return Object.fromEntries(entries.map(([step, inner]) => [step.startsWith('map_') ? step.slice(4) : step, inner]))
}
