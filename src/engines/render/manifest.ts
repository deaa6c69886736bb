import { createHash } from 'node:crypto'
import { isMetadata, type Plain, type SealedFile } from '../../adapters/sops/index.ts'
import type { AnyObject } from '../../api/index.ts'
import { beginningOf, Failure, isRecord, type YamlText } from '../../std/index.ts'
import { LIMITS } from './source.ts'

/** One object as the repository describes it. */
export interface Manifest {
  readonly object: AnyObject
  /** Where it stands: `deploy/web.yaml:12`. */
  readonly source: string
  /** The places of values that are tagged as texts, as `placeOf` writes them. */
  readonly texts?: ReadonlySet<string>
  /** Why the object cannot be applied, as the rest of a sentence about it. Of `object` only what tells which one it is counts. */
  readonly problem?: string
  /** What of it is encrypted. Until that is decrypted there is a problem. */
  readonly sealed?: Sealed
}

/** An object, as it is written, in which values are encrypted with SOPS. */
export interface Sealed {
  readonly item: Record<string, unknown>
  /** What SOPS says of it, where its values themselves are encrypted. */
  readonly metadata?: Record<string, unknown>
  /** The keys from the encrypted document to it. */
  readonly within: readonly string[]
  /** The file that it is from, where that was encrypted as a whole. */
  readonly file?: SealedFile
  /** What of it was made of encrypted files, by what stands in its place. */
  readonly pieces?: SealedPieces
}

export type SealedPieces = ReadonlyMap<string, SealedPiece>

/** Of an encrypted file, what became the content of a ConfigMap or Secret. */
export interface SealedPiece {
  readonly files: readonly SealedFile[]
  make(plains: ReadonlyMap<string, Plain>): Buffer
}

/** One text for a place in an object: keys, and `[0]` in lists. */
export const placeOf = (steps: readonly string[]): string => JSON.stringify(steps)

/** The objects in a text; lines and documents count from its own beginning. */
export interface Read {
  readonly objects: readonly ReadObject[]
  readonly faults: readonly Fault[]
  readonly documents: number
}

type ReadObject = Omit<Manifest, 'source'> & { readonly line: number }

interface Fault {
  readonly line: number
  /** Of a text that is no YAML. */
  readonly column?: number
  readonly document: number
  readonly what: string
}

/** All objects of a text: several documents, Lists taken apart; and all that is wrong with it. */
export function manifestsIn({ documents, problem }: YamlText): Read {
  // The rest of the same text is not read.
  if (problem) return { objects: [], faults: [{ ...problem, what: problem.message }], documents: problem.document }
  const objects: ReadObject[] = []
  const faults: Fault[] = []
  for (const [index, { line, value, texts = [] }] of documents.entries()) {
    const items = itemsOf(value)
    const textsOf = textsByItem(items, texts)
    const sops = isRecord(value) && isMetadata(value.sops) ? value.sops : undefined
    for (const { item, steps } of items) {
      const what = sops && isTyped(item) ? ENCRYPTED : faultOf(item)
      const named = what === undefined ? undefined : withNameOf(item)
      if (what !== undefined && named) {
        const sealed = sops && isRecord(item) && { sealed: { item, metadata: sops, within: keysIn(steps) } }
        objects.push({ object: named, line, problem: what, ...sealed })
        continue
      }
      const within = textsOf.get(placeOf(steps)) ?? []
      const marks = within.length > 0 && { texts: new Set(within.map(placeOf)) }
      if (what === undefined && isObject(item)) objects.push({ object: sanitized(item), line, ...marks })
      else faults.push({ line, document: index + 1, what: what ?? 'is no object' })
    }
  }
  return { objects, faults, documents: documents.length }
}

/** An object that was decrypted, in the place of the one that was not. */
export function unsealed({ source, texts }: Manifest, item: Record<string, unknown>): Manifest {
  const what = faultOf(item)
  if (what === undefined && isObject(item)) return { object: sanitized(item), source, ...(texts && { texts }) }
  const object = withNameOf(item)
  if (object) return { object, source, problem: what ?? 'is no object' }
  throw new Failure('invalid', `${source}: what was decrypted ${what ?? 'is no object'}`, { reason: 'RenderFailed' })
}

/** Of these steps. SOPS counts no places in lists. */
const keysIn = (steps: readonly string[]): string[] => steps.filter((step) => !/^\[\d+\]$/.test(step))

const ENCRYPTED =
  'is encrypted with SOPS, and nothing here decrypts it: a GitOpsDeployment does that with the keys of the Secret that its spec.decryption.secretRef names'

/** One failure for all problems of a rendering, so that they can be mended at once. */
export function checkRendered(manifests: readonly Manifest[], problems: readonly string[]): readonly Manifest[] {
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : ''
  if (problems.length > 0)
    throw new Failure('invalid', problems.slice(0, 5).join('; ') + more, {
      reason: 'RenderFailed',
      remedy: 'Correct the files and push.',
    })
  if (manifests.length > LIMITS.objects)
    throw new Failure('too-large', `the path describes ${manifests.length} objects; at most ${LIMITS.objects} are applied`, {
      reason: 'TooManyObjects',
    })
  return manifests
}

interface Item {
  item: unknown
  /** From the document to it. */
  steps: string[]
}

const itemsOf = (item: unknown, steps: string[] = []): Item[] => {
  if (!isRecord(item) || !String(item.kind).endsWith('List')) return [{ item, steps }]
  const { items } = item
  if (!Array.isArray(items)) return [{ item, steps }]
  return items.flatMap((each, at) => itemsOf(withKindOf(item, each), [...steps, 'items', `[${at}]`]))
}

/** The places of texts within the item in which they are, by the place of that. A list may have thousands of both. */
function textsByItem(items: readonly Item[], texts: readonly (readonly string[])[]): Map<string, (readonly string[])[]> {
  const found = new Map<string, (readonly string[])[]>()
  if (texts.length === 0) return found
  for (const { steps } of items) found.set(placeOf(steps), [])
  for (const text of texts) {
    let at = 0
    while (!found.has(placeOf(text.slice(0, at))) && text[at] === 'items') at += 2
    found.get(placeOf(text.slice(0, at)))?.push(text.slice(at))
  }
  return found
}

/** A list of one kind need not repeat it, as those that an API server gives do not. */
function withKindOf({ apiVersion, kind }: Record<string, unknown>, item: unknown): unknown {
  if (!isText(kind) || kind === 'List' || !isRecord(item) || isText(item.apiVersion) || isText(item.kind)) return item
  return { ...item, apiVersion, kind: kind.slice(0, -'List'.length) }
}

/** Says why a value is no Kubernetes object, as the rest of a sentence. */
function faultOf(value: unknown): string | undefined {
  if (!isRecord(value)) return 'is not a mapping'
  if (!isText(value.apiVersion)) return 'has no apiVersion'
  if (!isText(value.kind)) return 'has no kind'
  const { metadata } = value
  if (!isRecord(metadata)) return 'has no metadata'
  const { name, generateName } = metadata
  if (name !== undefined && name !== null && typeof name !== 'string')
    return `has a metadata.name that is no text: ${beginningOf(JSON.stringify(name), 50)}; put it in quotes`
  // Hooks may have the other one; what is no hook is refused later.
  if (!isText(name) && !isText(generateName)) return 'has no metadata.name'
  return isSecret(value) ? faultOfSecret(value) : undefined
}

/** What tells which object it is, as far as it is written, of one that cannot be applied. */
function withNameOf(value: unknown): AnyObject | undefined {
  if (!isRecord(value) || !isText(value.apiVersion) || !isText(value.kind)) return undefined
  const { name, namespace } = isRecord(value.metadata) ? value.metadata : {}
  return {
    apiVersion: value.apiVersion,
    kind: value.kind,
    metadata: { name: isText(name) ? name : NAMELESS, ...(isText(namespace) && { namespace }) },
  }
}

const isTyped = (value: unknown): boolean => isRecord(value) && isText(value.apiVersion) && isText(value.kind)

/** In the place of a name that is missing, or none. */
const NAMELESS = '(no name)'

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isObject = (value: unknown): value is AnyObject => faultOf(value) === undefined

/** Fields that only the server sets. Sent along, they would be taken for our wish. */
const SERVER_SIDE = ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation', 'selfLink', 'ownerReferences']

function sanitized({ status: _, ...object }: AnyObject): AnyObject {
  const { name } = object.metadata
  // Beside a name, generateName says nothing.
  const isLeftOut = (key: string) => SERVER_SIDE.includes(key) || (name && key === 'generateName')
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !isLeftOut(key)))
  const kept = { ...object, metadata: { ...metadata, name: name || generatedName(object) } }
  return hasReference(object.stringData) ? kept : foldStringData(kept)
}

/** Names of Jobs stand in labels of their pods, which have 63 characters at most. */
const LONGEST_PREFIX = 54

/** The same for the same object, so that one commit does not make another object each time that it is read. */
function generatedName(object: AnyObject): string {
  const prefix = String(object.metadata.generateName).slice(0, LONGEST_PREFIX)
  return prefix + createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 8)
}

const isSecret = ({ apiVersion, kind }: Record<string, unknown>): boolean => apiVersion === 'v1' && kind === 'Secret'

/** The API server takes only texts there, and it is not asked: it gets `data` in the place of `stringData`. */
function faultOfSecret({ data, stringData }: Record<string, unknown>): string | undefined {
  if (isNothing(stringData)) return undefined
  if (!isRecord(stringData)) return 'has a stringData that is no mapping'
  if (!isNothing(data) && !isRecord(data)) return 'has a data that is no mapping'
  const [key, value] = Object.entries(stringData).find((entry) => !isNothing(entry[1]) && typeof entry[1] !== 'string') ?? []
  if (key === undefined) return undefined
  const field = beginningOf(`stringData.${key}`, 100)
  return typeof value === 'object'
    ? `has a ${field} that is ${Array.isArray(value) ? 'a list' : 'a mapping'}; only texts may stand there`
    : `has a ${field} that is a ${typeof value}, and no text; put it in quotes`
}

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined

/** In base64 no variable would be seen any more. */
const hasReference = (stringData: unknown): boolean =>
  isRecord(stringData) && Object.values(stringData).some((value) => typeof value === 'string' && value.includes('${'))

/** The server never forgets a key that was once written by stringData; `data` it does. A key without a value has an empty one. */
export function foldStringData(object: AnyObject): AnyObject {
  const { stringData, ...rest } = object
  if (!isSecret({ ...object }) || !isRecord(stringData)) return object
  const folded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value ?? '')).toString('base64')])
  return { ...rest, data: { ...(isRecord(rest.data) ? rest.data : {}), ...Object.fromEntries(folded) } }
}
