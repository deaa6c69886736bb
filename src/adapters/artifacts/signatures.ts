import { createHash } from 'node:crypto'
import { isRecord, recordIn } from '../../std/index.ts'
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

/** Whoever may push can push as many as he likes. */
const MOST_SIGNATURES = 32
const MOST_OF_SIGNATURE = 2 ** 18
const MOST_OF_LIST = 2 ** 20

/** Those of `cosign sign`: bundles that refer to the artifact and, of cosign before version 3, the layers of a tag beside it. */
export async function signaturesBeside(place: SignedPlace, artifact: string): Promise<PushedSignature[]> {
  const found: PushedSignature[] = []
  const digest = `sha256:${artifact}`
  const tag = digest.replace(':', '-')
  for (const bundle of await bundlesOf(place, digest, tag))
    for (const layer of await layersOf(place, bundle, BUNDLE)) {
      const content = await contentOf(place, layer)
      if (content) found.push({ content, signature: undefined })
    }
  for (const layer of await layersOf(place, `${tag}.sig`, SIMPLE_SIGNING)) {
    const signature = isRecord(layer.annotations) ? layer.annotations[SIGNATURE] : undefined
    const content = typeof signature === 'string' ? await contentOf(place, layer) : undefined
    if (content) found.push({ content, signature: String(signature) })
  }
  return found
}

/**
 * Registries that list no referrers say so in several ways; then their index is at a tag.
 * https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
 */
async function bundlesOf(place: SignedPlace, digest: string, tag: string): Promise<string[]> {
  const { ask, base } = place
  const answer = await ask(new URL(`${base}/referrers/${digest}?artifactType=${encodeURIComponent(BUNDLE)}`), 'GET', INDEX)
  const isKnown = answer.status < 400 || answer.status === 429 || answer.status >= 500
  if (!isKnown) answer.body.destroy()
  const index = isKnown ? await contentsOf(place, answer) : await manifestOf(place, tag)
  const bundles = listIn(index?.manifests).filter(({ artifactType = BUNDLE }) => artifactType === BUNDLE)
  return bundles.map((bundle) => bundle.digest).filter(isDigest)
}

async function layersOf(place: SignedPlace, reference: string, type: string): Promise<Record<string, unknown>[]> {
  const manifest = await manifestOf(place, reference)
  return listIn(manifest?.layers).filter(({ mediaType }) => mediaType === type)
}

const isDigest = (value: unknown): value is string => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value)

const listIn = (list: unknown) => (Array.isArray(list) ? list.filter(isRecord).slice(0, MOST_SIGNATURES) : [])

/** `undefined` where there is none. */
async function manifestOf(place: SignedPlace, reference: string): Promise<Record<string, unknown> | undefined> {
  const answer = await place.ask(new URL(`${place.base}/manifests/${reference}`), 'GET', `${MANIFEST}, ${INDEX}`)
  if (answer.status !== 404) return contentsOf(place, answer)
  answer.body.destroy()
  return undefined
}

const contentsOf = async ({ about }: SignedPlace, answer: WebAnswer) =>
  recordIn((await bodyOf(requireFound(answer, `the signatures of ${about}`), MOST_OF_LIST)).toString('utf8'))

/** `undefined` where it is not what its digest names. */
async function contentOf({ ask, base, about }: SignedPlace, { digest }: Record<string, unknown>): Promise<Buffer | undefined> {
  if (!isDigest(digest)) return undefined
  const answer = await ask(new URL(`${base}/blobs/${digest}`), 'GET')
  const content = await bodyOf(requireFound(answer, `the signatures of ${about}`), MOST_OF_SIGNATURE)
  return digest === `sha256:${createHash('sha256').update(content).digest('hex')}` ? content : undefined
}
