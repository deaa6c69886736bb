import { createHash } from 'node:crypto'
import { isFailure, isRecord, recordIn } from '../../std/index.ts'
import type { AskRegistry } from './registry-ask.ts'
import { bodyOf, requireFound, type WebAnswer } from './visit.ts'

/** What somebody has pushed beside an artifact to vouch for it. */
export interface PushedSignature {
  content: Buffer
  /** Of the content, in base64. A bundle of Sigstore has it inside. */
  signature: string | undefined
}

export interface SignedPlace {
  ask: AskRegistry
  /** Of the repository, as the registry is asked for it. */
  base: string
  /** In words. */
  about: string
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json'
/** https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md */
const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json'
const SIGNATURE = 'dev.cosignproject.cosign/signature'

const PREDICATE = 'dev.sigstore.bundle.predicateType'
const SIGNED = 'https://sigstore.dev/cosign/sign/v1'

/** Whoever may push can push as many as he likes, and as large ones. */
const MOST_SIGNATURES = 32
const MOST_OF_SIGNATURE = 2 ** 18
const MOST_OF_LIST = 2 ** 20

/**
 * Those of `cosign sign`: bundles that refer to the artifact and, of cosign before version 3, the layers of a tag beside it. One that is
 * not there or is larger than any is none: it must not stand in the way of the others.
 */
export async function signaturesBeside(place: SignedPlace, artifact: string): Promise<PushedSignature[]> {
  const found: PushedSignature[] = []
  const digest = `sha256:${artifact}`
  const tag = digest.replace(':', '-')
  for (const bundle of await bundlesOf(place, digest, tag)) {
    const [layer] = layersIn(await manifestOf(place, bundle), BUNDLE)
    const content = layer && (await contentOf(place, layer))
    if (content) found.push({ content, signature: undefined })
  }
  for (const layer of layersIn(await manifestOf(place, `${tag}.sig`), SIMPLE_SIGNING)) {
    const signature = isRecord(layer.annotations) ? layer.annotations[SIGNATURE] : undefined
    const content = typeof signature === 'string' ? await contentOf(place, layer) : undefined
    if (content) found.push({ content, signature: String(signature) })
  }
  return found
}

/**
 * Registries that list no referrers say so in several ways, and some by an empty list; then their index is at a tag.
 * https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
 */
async function bundlesOf(place: SignedPlace, digest: string, tag: string): Promise<string[]> {
  const url = new URL(`${place.base}/referrers/${digest}?artifactType=${encodeURIComponent(BUNDLE)}`)
  const answer = await place.ask(url, 'GET', INDEX)
  const isKnown = answer.status < 400 || answer.status === 429 || answer.status >= 500
  if (!isKnown) answer.body.destroy()
  const listed = isKnown ? bundlesIn(recordIn(String(await bodyIn(place, answer, MOST_OF_LIST)))) : []
  return listed.length > 0 ? listed : bundlesIn(await manifestOf(place, tag))
}

const bundlesIn = (index: Record<string, unknown> | undefined): string[] =>
  recordsIn(index?.manifests)
    .filter(isOfSignature)
    .map((bundle) => bundle.digest)
    .filter(isDigest)
    .slice(0, MOST_SIGNATURES)

/** A bundle can hold other things that are said of an artifact. Not all registries tell which. */
const isOfSignature = ({ artifactType = BUNDLE, annotations }: Record<string, unknown>): boolean =>
  artifactType === BUNDLE && (!isRecord(annotations) || (annotations[PREDICATE] ?? SIGNED) === SIGNED)

const layersIn = (manifest: Record<string, unknown> | undefined, type: string): Record<string, unknown>[] =>
  recordsIn(manifest?.layers)
    .filter(({ mediaType }) => mediaType === type)
    .slice(0, MOST_SIGNATURES)

const recordsIn = (list: unknown) => (Array.isArray(list) ? list.filter(isRecord) : [])

const isDigest = (value: unknown): value is string => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value)

async function manifestOf(place: SignedPlace, reference: string): Promise<Record<string, unknown> | undefined> {
  const answer = await place.ask(new URL(`${place.base}/manifests/${reference}`), 'GET', `${MANIFEST}, ${INDEX}`)
  return recordIn(String(await bodyIn(place, answer, MOST_OF_LIST)))
}

/** `undefined` where it is not what its digest names. */
async function contentOf(place: SignedPlace, { digest }: Record<string, unknown>): Promise<Buffer | undefined> {
  if (!isDigest(digest)) return undefined
  const content = await bodyIn(place, await place.ask(new URL(`${place.base}/blobs/${digest}`), 'GET'), MOST_OF_SIGNATURE)
  return content && digest === `sha256:${createHash('sha256').update(content).digest('hex')}` ? content : undefined
}

/** `undefined` where there is none, or more than `most` bytes. */
async function bodyIn({ about }: SignedPlace, answer: WebAnswer, most: number): Promise<Buffer | undefined> {
  try {
    return await bodyOf(requireFound(answer, `the signatures of ${about}`), most)
  } catch (thrown) {
    if (isFailure(thrown, 'not-found', 'too-large')) return undefined
    throw thrown
  }
}
