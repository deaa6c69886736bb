/** Signatures of artifacts, as `cosign sign --key` makes and pushes them. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type Pushed, pushArtifact } from './artifacts.ts'

const IN_TOTO = 'application/vnd.in-toto+json'
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

/** A key, with what it says of artifacts. */
export interface CosignKey {
  /** In PEM. */
  public: string
  /** Of cosign 3: a bundle. */
  bundle(digest: string, predicateType?: string): Buffer
  /** Of cosign before that. */
  simple(digest: string): { content: Buffer; signature: string }
}

export const cosignKey = (): CosignKey => keyOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256')

/** `hash`: by which it signs; `null`: it has its own. */
export function keyOf(pair: { publicKey: KeyObject; privateKey: KeyObject }, hash: string | null): CosignKey {
  const signed = (bytes: Buffer) => sign(hash, bytes, pair.privateKey).toString('base64')
  return {
    public: String(pair.publicKey.export({ type: 'spki', format: 'pem' })),
    bundle(digest, predicateType = 'https://sigstore.dev/cosign/sign/v1') {
      const statement = { _type: 'https://in-toto.io/Statement/v1', subject: [{ digest: { sha256: digest } }], predicateType }
      const payload = Buffer.from(JSON.stringify(statement))
      const sig = signed(Buffer.concat([Buffer.from(`DSSEv1 ${IN_TOTO.length} ${IN_TOTO} ${payload.length} `), payload]))
      const dsseEnvelope = { payload: payload.toString('base64'), payloadType: IN_TOTO, signatures: [{ sig }] }
      return Buffer.from(JSON.stringify({ mediaType: BUNDLE, dsseEnvelope }))
    },
    simple(digest) {
      const critical = { image: { 'docker-manifest-digest': `sha256:${digest}` }, type: 'cosign container image signature' }
      const content = Buffer.from(JSON.stringify({ critical, optional: null }))
      return { content, signature: signed(content) }
    },
  }
}

type Place = Omit<Pushed, 'tag'>

/** Pushes bundles as cosign 3 does where a registry lists no referrers. */
export async function pushBundles(place: Place, digest: string, bundles: readonly Buffer[]): Promise<void> {
  const manifests: object[] = []
  for (const [at, bytes] of bundles.entries()) {
    const manifest = { artifactType: BUNDLE }
    const pushed = await pushArtifact({ ...place, tag: `bundle-${at}`, manifest }, [{ mediaType: BUNDLE, bytes }])
    manifests.push({ mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: `sha256:${pushed}`, size: 1, ...manifest })
  }
  const index = { mediaType: INDEX, manifests, config: undefined, layers: undefined }
  await pushArtifact({ ...place, tag: `sha256-${digest}`, manifest: index }, [])
}

/** Pushes signatures as cosign before version 3 does. */
export async function pushSimple(
  place: Place,
  digest: string,
  signatures: readonly { content: Buffer; signature: string }[],
): Promise<void> {
  const mediaType = 'application/vnd.dev.cosign.simplesigning.v1+json'
  const layers = signatures.map(({ content, signature }) => ({
    mediaType,
    bytes: content,
    annotations: { 'dev.cosignproject.cosign/signature': signature },
  }))
  await pushArtifact({ ...place, tag: `sha256-${digest}.sig` }, layers)
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
