import { createHash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import {
  damagedValue,
  dataKeyOf,
  decryptValue,
  isEncryptedValue,
  type Metadata,
  openAll,
  type Plain,
  pathOf,
  plainValueOf,
  readMetadata,
  refusedFile,
  type SealedFile,
  type SopsKeys,
} from '../../adapters/sops/index.ts'
import { Failure, isRecord, LRUCache } from '../../std/index.ts'
import { replaced } from './generated.ts'
import { type Manifest, type Sealed, unsealed } from './manifest.ts'

/** What is encrypted in manifests is decrypted by it, in memory. */
export interface Decryption {
  /** Another one for other keys. */
  readonly digest: string
  /** The same manifests where nothing is encrypted. Refuses all of them where one cannot be decrypted. */
  open(manifests: readonly Manifest[]): Promise<readonly Manifest[]>
  /** What was decrypted the last time, and the time before: it is never shown. The same set until that changes. */
  secrets(): ReadonlySet<string>
  /** Whether all of a commit was ever decrypted: until then nobody knows what is not to be shown. */
  hasOpened(): boolean
}

/** Files whose keys are remembered: it takes a millisecond or two to have one. */
const MOST_FILES = 10_000

interface Opened {
  manifest: Manifest
  secrets: readonly string[]
}

/** `last`: what decrypted with other keys before; that is to be hidden still. */
export function createDecryption(keys: SopsKeys, last?: Decryption): Decryption {
  const former = last?.secrets() ?? new Set<string>()
  const opened = openerWith(keys)
  const known = new WeakMap<Manifest, Opened>()
  let [now, before, undone] = [former, new Set<string>(), new Set<string>()]
  let all = former
  let hasOpened = last?.hasOpened() ?? false
  const openedOnce = async (manifest: Manifest, sealed: Sealed, secrets: Set<string>): Promise<Manifest> => {
    const earlier = known.get(manifest)
    const own = new Set(earlier?.secrets)
    try {
      const opening = earlier?.manifest ?? (await opened(manifest, sealed, own))
      known.set(manifest, { manifest: opening, secrets: [...own] })
      if (!earlier) await breathe()
      return opening
    } finally {
      for (const secret of own) secrets.add(secret)
    }
  }
  const remember = (secrets: Set<string>, isDone: boolean): void => {
    if (isSame(secrets, isDone ? now : undone)) return
    // While a commit is refused, what is there is from the one before, however often that happens.
    if (isDone) [before, now, undone] = [new Set(now), secrets, new Set()]
    else undone = secrets
    all = new Set([...before, ...now, ...undone])
  }
  return {
    digest: keys.digest,
    secrets: () => all,
    hasOpened: () => hasOpened,
    async open(manifests) {
      if (manifests.every(({ sealed }) => sealed === undefined)) {
        hasOpened = true
        return manifests
      }
      const secrets = new Set<string>()
      const found: Manifest[] = []
      let isDone = false
      try {
        for (const manifest of manifests)
          found.push(manifest.sealed ? await openedOnce(manifest, manifest.sealed, secrets) : manifest)
        isDone = true
        hasOpened = true
      } finally {
        remember(secrets, isDone)
      }
      return found
    },
  }
}

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((secret) => other.has(secret))

/** Decrypts one object, and adds to `secrets` what it held. */
type Open = (manifest: Manifest, sealed: Sealed, secrets: Set<string>) => Promise<Manifest>

function openerWith(keys: SopsKeys): Open {
  const dataKeys = new LRUCache<string, Uint8Array>({ max: MOST_FILES })
  const checked = new WeakSet<SealedFile>()
  const keyOf = async (metadata: Metadata, source: string): Promise<Uint8Array> => {
    const name = createHash('sha256').update(JSON.stringify(metadata)).digest('base64')
    const found = dataKeys.get(name) ?? (await dataKeyOf(metadata, keys, source))
    dataKeys.set(name, found)
    return found
  }
  const plainsOf = async (file: SealedFile): Promise<ReadonlyMap<string, Plain>> => {
    const metadata = readMetadata(file.metadata, file.source)
    return openAll(file, metadata, await keyOf(metadata, file.source))
  }
  const filled = async (manifest: Manifest, { item, pieces = new Map() }: Sealed, secrets: Set<string>): Promise<Manifest> => {
    const made = new Map<string, Buffer>()
    // Thousands of lines of one file may each be a piece.
    const byFile = new Map<SealedFile, ReadonlyMap<string, Plain>>()
    for (const [name, { files, make }] of pieces) {
      for (const file of files) {
        if (byFile.has(file)) continue
        const plains = await plainsOf(file)
        byFile.set(file, plains)
        for (const { bytes, type } of plains.values()) if (!NOT_SECRET.has(type)) addText(bytes.toString('utf8'), secrets)
      }
      const [first = new Map(), ...others] = files.map((file) => byFile.get(file) ?? new Map<string, Plain>())
      const content = make(others.length === 0 ? first : new Map([first, ...others].flatMap((plains) => [...plains])))
      made.set(name, content)
      addText(content.toString('utf8'), secrets)
    }
    return unsealed(
      manifest,
      replaced(item, (name) => made.get(name) ?? Buffer.from(name)),
    )
  }
  return async (manifest, sealed, secrets) => {
    if (sealed.pieces) return filled(manifest, sealed, secrets)
    const { item, metadata: sops, within, file } = sealed
    // Without its file nobody could tell whether it is what was encrypted.
    if (!file) throw refusedFile(manifest.source, NO_FILE, 'Leave the field `sops` of encrypted objects as it is.')
    const metadata = readMetadata(sops ?? {}, file.source)
    const dataKey = await keyOf(metadata, file.source)
    if (!checked.has(file)) openAll(file, metadata, dataKey)
    checked.add(file)
    const { sops: _, ...encrypted } = item
    return unsealed(manifest, inRecord(encrypted, within, { dataKey, source: file.source, secrets }))
  }
}

/** Decrypts what is encrypted in manifests, if it can be. */
export const withDecryption = async (
  manifests: readonly Manifest[],
  decryption: Decryption | undefined,
): Promise<readonly Manifest[]> => (decryption ? decryption.open(manifests) : manifests)

const NO_FILE = 'an object is encrypted with SOPS, and no file of the commit has what SOPS says of it'

/** Types of values. */
const NOT_SECRET = new Set(['comment', 'bool'])

function addText(text: string, secrets: Set<string>): void {
  secrets.add(text)
  secrets.add(Buffer.from(text).toString('base64'))
}

interface Opening {
  dataKey: Uint8Array
  source: string
  secrets: Set<string>
}

function inValue(value: unknown, keys: readonly string[], opening: Opening): unknown {
  if (Array.isArray(value)) return value.map((item) => inValue(item, keys, opening)).filter((item) => item !== COMMENT)
  if (isRecord(value)) return inRecord(value, keys, opening)
  return typeof value === 'string' && isEncryptedValue(value) ? decrypted(value, keys, opening) : value
}

const inRecord = (record: Record<string, unknown>, keys: readonly string[], opening: Opening): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, inValue(value, [...keys, key], opening)]))

/** In a list a comment may stand where a value does. */
const COMMENT = Symbol('comment')

function decrypted(text: string, keys: readonly string[], { dataKey, source, secrets }: Opening): unknown {
  const plain = decryptValue(text, dataKey, pathOf(keys))
  if (!plain) throw damagedValue(source, pathOf(keys))
  if (plain.type === 'comment') return COMMENT
  const value = plainValueOf(plain)
  if (value === undefined)
    throw new Failure('invalid', `${source}: the value at ${JSON.stringify(keys.join('.').slice(0, 200))} is not of its type`, {
      reason: 'DecryptionFailed',
      remedy: 'Make a text of it; an integer beyond 2^53 would not arrive as it is.',
    })
  for (const secret of secretsOf(value, keys)) secrets.add(secret)
  return value
}

/** What an object is called, and what sort it is, is told of it; and a truth is no secret. Of `data`, what it stands for is one as well. */
function secretsOf(value: string | number | boolean, keys: readonly string[]): string[] {
  if (typeof value === 'boolean' || NO_SECRETS.has(keys.join('.'))) return []
  const text = String(value)
  if (keys.includes('data')) return [text, Buffer.from(text, 'base64').toString('utf8')]
  return [text, Buffer.from(text).toString('base64')]
}

const NO_SECRETS = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'])
