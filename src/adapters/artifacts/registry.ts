import { createHash } from 'node:crypto'
import { Failure, isRecord, recordIn } from '../../std/index.ts'
import { highestTag, parseRange } from '../git/index.ts'
import { type ArtifactPart, altered, DOWNLOAD_WITHIN, type FoundArtifact } from './download.ts'
import { type AskRegistry, askRegistry, type RegistryOptions } from './registry-ask.ts'
import { signaturesBeside } from './signatures.ts'
import { bodyOf, refusalOf, requireFound } from './visit.ts'

/** Names of repositories and tags. https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests */
const REPOSITORY = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^sha256:[0-9a-f]{64}$/

const MANIFESTS = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ')

const MOST_OF_MANIFEST = 4 * 2 ** 20
const MOST_OF_TAGS = 2 ** 20
const MOST_OF_ALL_TAGS = 50_000
const MOST_LAYERS = 100

/** One repository of a registry, by the distribution protocol of OCI. */
export function openRegistry(options: RegistryOptions) {
  const { url } = options
  const repository = url.pathname.split('/').filter(Boolean).join('/')
  if (!REPOSITORY.test(repository) || repository.length > 255)
    throw new Failure('invalid', `${JSON.stringify(repository)} cannot be the name of a repository in a registry`, {
      reason: 'UrlInvalid',
      remedy: 'Write oci://host/path, in small letters.',
    })
  const place = `${url.host}/${repository}`
  const base = `${url.origin}/v2/${repository}`
  const ask = askRegistry(options, repository)

  const manifest = async (reference: string): Promise<{ digest: string; content: Record<string, unknown> }> => {
    const answer = await ask(new URL(`${base}/manifests/${reference}`), 'GET', MANIFESTS)
    const bytes = await bodyOf(requireFound(answer, `${place}, ${reference}`), MOST_OF_MANIFEST)
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (DIGEST.test(reference) && reference !== `sha256:${digest}`) throw altered(place)
    return { digest, content: recordIn(bytes.toString('utf8')) ?? {} }
  }

  return {
    /** Whoever is no registry does not know how one says no. What stands before the names of charts is no repository itself. */
    async probe(): Promise<void> {
      const answer = await ask(new URL(`${base}/tags/list?n=1`), 'GET')
      const said = recordIn((await bodyOf(answer, MOST_OF_TAGS)).toString('utf8'))
      if (answer.status !== 200 && answer.status !== 404) throw refusalOf(answer, place)
      if (!Array.isArray(said?.errors) && !(said && 'tags' in said)) throw notARegistry(url)
    },
    /** The digest that a tag leads to now. */
    async digestOf(tag: string): Promise<string> {
      if (!TAG.test(tag)) throw notATag(tag)
      const answer = await ask(new URL(`${base}/manifests/${tag}`), 'HEAD', MANIFESTS)
      answer.body.resume()
      if (answer.status === 404) throw missing(place, `tag ${tag}`)
      requireFound(answer, `${place}, tag ${tag}`)
      const told = answer.header('docker-content-digest') ?? ''
      return DIGEST.test(told) ? told.slice('sha256:'.length) : (await manifest(tag)).digest
    },
    /** The tag with the highest version in the range. A tag has `_` where a version has `+`. */
    async tagIn(range: string): Promise<string> {
      const versions = new Map((await tagsOf(ask, base, place)).map((one) => [one.replaceAll('_', '+'), one]))
      const best = await highestTag([...versions.keys()], parseRange(range))
      const tag = best === undefined ? undefined : versions.get(best)
      if (tag === undefined) throw missing(place, `tag in the range ${range}`)
      return tag
    },
    /** What makes up the artifact of that digest. */
    async downloadsOf(commit: string): Promise<FoundArtifact> {
      const { content } = await manifest(`sha256:${commit}`)
      const downloads = layersOf(content, place).map((layer): ArtifactPart => {
        const { digest, ...rest } = layer
        const blob = new URL(`${base}/blobs/sha256:${digest}`)
        const from = async () => requireFound(await ask(blob, 'GET', undefined, DOWNLOAD_WITHIN), place)
        return { digest, ...rest, from }
      })
      return { downloads, ...wordsOf(content) }
    },
    /** What was pushed beside the artifact of that digest to vouch for it. */
    signaturesOf: (commit: string) => signaturesBeside({ ask, base, about: place }, commit),
  }
}

/** All of them, over as many pages as there are. */
async function tagsOf(ask: AskRegistry, base: string, place: string): Promise<string[]> {
  const all: string[] = []
  let next: URL | undefined = new URL(`${base}/tags/list?n=1000`)
  while (next) {
    const before = all.length
    const answer = await ask(next, 'GET')
    const list = recordIn((await bodyOf(requireFound(answer, place), MOST_OF_TAGS)).toString('utf8'))?.tags
    if (Array.isArray(list)) for (const tag of list) if (typeof tag === 'string') all.push(tag)
    // Of half a list the highest version would be another one.
    if (all.length > MOST_OF_ALL_TAGS) throw tooManyTags(place)
    const link = /^<([^>]{1,2000})>/.exec(answer.header('link') ?? '')?.[1]
    const to: URL | undefined = link !== undefined && URL.canParse(link, next.href) ? new URL(link, next) : undefined
    next = to?.origin === next.origin && all.length > before ? to : undefined
  }
  return all
}

const missing = (place: string, what: string): Failure =>
  new Failure('not-found', `${place} has no ${what}`, { reason: 'RefNotFound', remedy: 'Push it, or name one that is there.' })

const tooManyTags = (place: string): Failure =>
  new Failure('too-large', `${place} has more than ${MOST_OF_ALL_TAGS} tags`, {
    reason: 'AnswerTooLarge',
    remedy: 'Follow one tag in place of a range.',
  })

const notARegistry = ({ origin }: URL): Failure =>
  new Failure('invalid', `what answers at ${origin} is no registry`, {
    reason: 'ProtocolError',
    remedy: 'Check spec.url: it is the one of helm push or docker push.',
  })

const notATag = (tag: string): Failure =>
  new Failure('invalid', `${JSON.stringify(tag.slice(0, 300))} cannot be a tag in a registry`, {
    reason: 'RefInvalid',
    remedy: 'Write a tag, or sha256: with 64 hexadecimal digits.',
  })

interface Layer {
  digest: string
  form: ArtifactPart['form']
  name: string | undefined
  isChart: boolean
}

/** An index names several manifests, of which none is meant. */
function layersOf(manifest: Record<string, unknown>, place: string): Layer[] {
  const listed = Array.isArray(manifest.layers) ? manifest.layers.filter(isRecord) : []
  const layers = listed.flatMap((layer) => layerOf(layer))
  const charts = layers.filter(({ isChart }) => isChart)
  const wanted = charts.length > 0 ? charts : layers
  if (wanted.length > 0 && listed.length <= MOST_LAYERS) return wanted
  const why = Array.isArray(manifest.manifests)
    ? 'names images for several platforms, and is no artifact'
    : listed.length > MOST_LAYERS
      ? `has more than ${MOST_LAYERS} layers`
      : 'has no layer with files: neither an archive (tar, also with gzip or zstd) nor files with a title'
  throw new Failure('invalid', `${place} ${why}`, {
    reason: 'ArtifactUnsupported',
    remedy: 'Push it with `flux push artifact`, `helm push` or `oras push`.',
  })
}

const TITLE = 'org.opencontainers.image.title'
const UNPACK = 'io.deis.oras.content.unpack'

/** Those of Flux, Helm and container tools are archives by their media type; ORAS names files, and says which are archives. */
function layerOf({ mediaType, digest, annotations }: Record<string, unknown>): Layer[] {
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest)) return []
  const type = mediaType.slice(0, 200)
  const title = isRecord(annotations) && typeof annotations[TITLE] === 'string' ? annotations[TITLE] : undefined
  const isPacked = isRecord(annotations) && annotations[UNPACK] === 'true'
  const isTar = isPacked || /[./]tar(?:$|[+.])/.test(type)
  // Signatures and their like have neither.
  if (!isTar && title === undefined) return []
  if (type.startsWith('application/vnd.cncf.helm.chart.provenance')) return []
  const form = isTar ? (/zstd$/.test(type) ? 'tar+zstd' : isPacked || /gzip$/.test(type) ? 'tar+gzip' : 'tar') : 'file'
  const isChart = type.startsWith('application/vnd.cncf.helm.chart.content.')
  return [{ digest: digest.slice('sha256:'.length), form, name: isTar ? undefined : title, isChart }]
}

/** What Flux and others write about what they push: the commit and who wrote it. */
function wordsOf({ annotations }: Record<string, unknown>): { author: string; subject: string } {
  const word = (name: string) => {
    const value = isRecord(annotations) ? annotations[`org.opencontainers.image.${name}`] : undefined
    return typeof value === 'string'
      ? value
          .slice(0, 300)
          .replace(/[\r\n].*$/s, '')
          .toWellFormed()
      : ''
  }
  const title = [word('title'), word('version')].filter(Boolean).join(' ')
  return { author: word('authors'), subject: title || word('revision') }
}
