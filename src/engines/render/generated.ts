import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  dotenvFile,
  type FlatFile,
  iniFile,
  type Plain,
  plainText,
  plainValueOf,
  type SealedFile,
} from '../../adapters/sops/index.ts'
import { isRecord, type ReadYamlTree, recordIn } from '../../std/index.ts'
import type { KustomizationReach } from './kustomization.ts'
import type { Manifest, SealedPiece, SealedPieces } from './manifest.ts'
import { sealedIn } from './sealed.ts'
import { type SourceFile, textIn } from './source.ts'

const STAND_IN = /berth-sops-[0-9a-f]{64}/g
const BEGIN = 'berth-sops-'
const STAND_IN_LENGTH = BEGIN.length + 64

/** The same for the same encrypted text: what kustomize makes of it, and how it is called, changes with that alone. */
const standIn = (...texts: string[]): string => BEGIN + createHash('sha256').update(JSON.stringify(texts)).digest('hex')

/**
 * The files for kustomize, in which stand-ins are what becomes the content of ConfigMaps and Secrets and is encrypted: kustomize takes files
 * from the disk, and what was encrypted never gets there.
 */
export async function withStandIns(
  files: readonly SourceFile[],
  { data, envs }: KustomizationReach,
  yaml: ReadYamlTree,
  tenant?: string,
): Promise<{ files: readonly SourceFile[]; pieces: SealedPieces }> {
  const pieces = new Map<string, SealedPiece>()
  const all: SourceFile[] = []
  for (const file of files) {
    const text = data.has(file.source) && Buffer.from(file.data).includes('ENC[') ? textIn(file).text : undefined
    const stands = text === undefined ? undefined : await standInFor(file, { text, isEnv: envs.has(file.source), yaml, tenant })
    for (const [name, piece] of stands?.pieces ?? []) pieces.set(name, piece)
    all.push(stands ? { source: file.source, data: Buffer.from(stands.text) } : file)
  }
  return { files: all, pieces }
}

interface Reading {
  text: string
  isEnv: boolean
  yaml: ReadYamlTree
  tenant: string | undefined
}

async function standInFor(
  file: SourceFile,
  { text, isEnv, yaml, tenant }: Reading,
): Promise<{ text: string; pieces: [string, SealedPiece][] } | undefined> {
  const { source } = file
  const flat =
    text.includes('\nsops_mac=') || text.startsWith('sops_mac=')
      ? dotenvFile(text)
      : /^\[sops\]/m.test(text)
        ? iniFile(text)
        : undefined
  if (flat && isEnv) return inLines(source, flat)
  const whole = standIn(source, text)
  const asWhole = (piece: SealedPiece) => ({ text: whole, pieces: [[whole, piece] satisfies [string, SealedPiece]] })
  if (flat) return asWhole({ files: [sealedFlat(source, flat)], make: (plains) => Buffer.from(plainText(flat, plains)) })
  const sealed = await sealedIn(file, yaml, tenant)
  if (sealed.length === 0) return undefined
  return asWhole({ files: sealed, make: (plains) => fromJson(source, text, plains) ?? fromYaml(text, plains) })
}

const sealedFlat = (source: string, { metadata, leaves }: FlatFile): SealedFile => ({ source, metadata, leaves })

/** Of a file with a variable in each line each value is by itself, for kustomize reads the lines. */
function inLines(source: string, flat: FlatFile): { text: string; pieces: [string, SealedPiece][] } {
  const files = [sealedFlat(source, flat)]
  const encrypted = new Set(flat.leaves.map(({ text }) => text))
  const pieces: [string, SealedPiece][] = []
  const lines = flat.lines.map(({ begin, value }) => {
    if (!value.startsWith('ENC[') || !encrypted.has(value)) return `${begin}${value}\n`
    const name = standIn(source, begin, value)
    pieces.push([name, { files, make: (plains) => Buffer.from(flat.write(plains.get(value)?.bytes.toString('utf8') ?? '')) }])
    return `${begin}${name}\n`
  })
  return { text: lines.join(''), pieces }
}

/** The text as it is, with what was encrypted in the place of what stands there, and without what SOPS says of it. */
function fromYaml(text: string, plains: ReadonlyMap<string, Plain>): Buffer {
  const kept: string[] = []
  let isSops = false
  for (const line of text.split('\n')) {
    if (/^\S/.test(line)) isSops = line.startsWith('sops:')
    if (!isSops) kept.push(...withPlains(line, plains))
  }
  const written = kept.join('\n')
  return Buffer.from(written.endsWith('\n') ? written : `${written}\n`)
}

/** SOPS writes a value at the end of a line, and its comments by themselves or behind it. Nobody misses those. */
function withPlains(line: string, plains: ReadonlyMap<string, Plain>): string[] {
  const [begin = '', ...comments] = line.split('#ENC[')
  const at = begin.indexOf('ENC[')
  if (at < 0) return comments.length > 0 && begin.trim() === '' ? [] : [comments.length > 0 ? begin.trimEnd() : begin]
  const plain = plains.get(begin.slice(at).trimEnd())
  if (!plain) return [begin]
  const value = plainValueOf(plain)
  // In a list a comment stands where a value does.
  return value === undefined ? [] : [begin.slice(0, at) + JSON.stringify(value)]
}

/** In the envelope of one value, SOPS keeps files whose form it does not know. */
function fromJson(source: string, text: string, plains: ReadonlyMap<string, Plain>): Buffer | undefined {
  const json = recordIn(text)
  if (!json) return undefined
  const { sops: _, ...content } = json
  const isEnvelope = Object.keys(content).join() === 'data' && !/\.json$/i.test(source)
  const envelope = isEnvelope ? plains.get(String(content.data)) : undefined
  if (envelope) return envelope.bytes
  const decoded = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(decoded)
    if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, decoded(inner)]))
    const plain = typeof value === 'string' ? plains.get(value) : undefined
    return plain ? (plainValueOf(plain) ?? plain.bytes.toString('utf8')) : value
  }
  return Buffer.from(`${JSON.stringify(decoded(content), undefined, '\t')}\n`)
}

/** The manifests, of which those with stand-ins are known to be encrypted. */
export function withPieces(manifests: readonly Manifest[], pieces: SealedPieces): readonly Manifest[] {
  if (pieces.size === 0) return manifests
  return manifests.map((manifest) => {
    const { object } = manifest
    const own = new Map<string, SealedPiece>()
    replaced({ ...object }, (name) => {
      const piece = pieces.get(name)
      if (piece) own.set(name, piece)
      return Buffer.from(name)
    })
    const [first] = own.values()
    if (!first) return manifest
    const from = first.files[0]?.source ?? ''
    const problem = `has values from ${from}, which is encrypted with SOPS, and nothing here decrypts it: a GitOpsDeployment does that with the keys of the Secret that its spec.decryption.secretRef names`
    return { ...manifest, problem, sealed: { item: { ...object }, within: [], pieces: own } }
  })
}

type Replace = (name: string) => Buffer

/** An object with something else in the place of each stand-in, also of those that are in base64. */
export function replaced(object: Record<string, unknown>, replace: Replace): Record<string, unknown> {
  const { data, binaryData, ...rest } = object
  const isSecret = object.kind === 'Secret'
  const given = entriesOf(data)
  // A ConfigMap has another place for bytes that are no text.
  const bytes = given.filter(([, value]) => !isSecret && isBinary(value, replace))
  const texts = given.filter((entry) => !bytes.includes(entry))
  const binary = [
    ...entriesOf(binaryData),
    ...bytes.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')] as const),
  ]
  return {
    ...mapped(rest, (value) => inside(value, replace)),
    ...(isRecord(data) && {
      data: Object.fromEntries(texts.map(([key, value]) => [key, isSecret ? encoded(value, replace) : inside(value, replace)])),
    }),
    ...(binary.length > 0 && { binaryData: Object.fromEntries(binary.map(([key, value]) => [key, encoded(value, replace)])) }),
  }
}

const entriesOf = (record: unknown): [string, unknown][] => (isRecord(record) ? Object.entries(record) : [])

const mapped = (record: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

function inside(value: unknown, replace: Replace): unknown {
  if (typeof value === 'string')
    return value.includes(BEGIN) ? value.replace(STAND_IN, (name) => replace(name).toString('utf8')) : value
  if (Array.isArray(value)) return value.map((item) => inside(item, replace))
  return isRecord(value) ? mapped(value, (inner) => inside(inner, replace)) : value
}

const isBinary = (value: unknown, replace: Replace): boolean =>
  typeof value === 'string' && value.length === STAND_IN_LENGTH && value.startsWith(BEGIN) && !isUtf8(replace(value))

function encoded(value: unknown, replace: Replace): unknown {
  const bytes = Buffer.from(String(value), 'base64')
  return bytes.includes(BEGIN) ? inBytes(bytes, replace).toString('base64') : value
}

/** What stands for a whole file may be bytes that are no text. */
function inBytes(bytes: Buffer, replace: Replace): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const { 0: name, index } of bytes.toString('latin1').matchAll(STAND_IN)) {
    parts.push(bytes.subarray(at, index), replace(name))
    at = index + name.length
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}
