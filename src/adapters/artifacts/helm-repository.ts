import { createHash } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { Failure, isRecord, type LRUCache, type ReadYaml, type Secret, withoutEnd } from '../../std/index.ts'
import { highestTag, parseRange } from '../git/index.ts'
import { DOWNLOAD_WITHIN } from './download.ts'
import { type Asking, requireFound, unreachable, type WebAnswer } from './visit.ts'

/** A version of a chart, as the index of its repository lists it. */
export interface ChartVersion {
  version: string
  /** SHA-256 of its archive, in hexadecimal digits; of its entry where the index does not tell that. */
  digest: string
  isTold: boolean
  url: URL
}

/** What was read of an index last, by the repository, the chart, and whose credential it was. */
export type ChartIndexes = LRUCache<string, { etag: string | undefined; versions: readonly ChartVersion[] }>

export interface HelmRepositoryOptions extends Asking {
  indexes: ChartIndexes
  yaml: ReadYaml
  /** Of the repository: what `helm repo add` takes. */
  url: URL
  authorization: Secret<string> | undefined
}

/** Bytes of an index, and of what it says of one chart. */
const MOST_OF_INDEX = 128 * 2 ** 20
const MOST_OF_CHART = 8 * 2 ** 20
const MOST_VERSIONS = 5000

const NAME = /^[A-Za-z0-9][\w.-]{0,252}$/

/** Charts on a web server, whose `index.yaml` lists them. https://helm.sh/docs/topics/chart_repository/ */
export function openHelmRepository(options: HelmRepositoryOptions) {
  const { visit, indexes, yaml, url, authorization, authorities, owner, signal } = options
  const base = new URL(`${withoutEnd(url.href, '/')}/`)

  /** Nothing is read where nothing has changed, if the server can say so. */
  const versionsOf = async (chart: string): Promise<readonly ChartVersion[]> => {
    if (!NAME.test(chart)) throw notAChart(chart)
    const key = JSON.stringify([base.href, owner, chart])
    const known = indexes.get(key)
    const headers = known?.etag === undefined ? {} : { 'if-none-match': known.etag }
    const answer = await visit({ url: new URL('index.yaml', base), headers, authorization, authorities, signal })
    if (answer.status === 304 && known) {
      answer.body.resume()
      return known.versions
    }
    const section = await sectionOf(requireFound(answer, base.href), chart)
    if (section === 'none') throw notAnIndex(base)
    const versions = section === undefined ? [] : await readVersions(section, { chart, base, yaml })
    indexes.set(key, { etag: answer.header('etag'), versions })
    return versions
  }

  return {
    /** `version`: one, a range, or nothing for the latest; `sha256:` and 64 digits name an archive. */
    async find(chart: string, version: string): Promise<ChartVersion> {
      const all = await versionsOf(chart)
      if (all.length === 0) throw missing(base, `chart ${chart}`)
      const digest = /^sha256:(.+)$/.exec(version)?.[1]
      const exact = all.find((one) => (digest === undefined ? one.version === version : one.digest === digest))
      if (exact) return exact
      const best =
        digest === undefined
          ? await highestTag(
              all.map((one) => one.version),
              parseRange(version || '*'),
            )
          : undefined
      const found = all.find((one) => one.version === best)
      if (found) return found
      const near = all.slice(0, 3).map((one) => one.version)
      throw missing(
        base,
        `version ${version || '*'} of chart ${chart}; it has ${near.join(', ')}${all.length > 3 ? ' and others' : ''}`,
      )
    },
    /** Whether there is an index that may be read. */
    async probe(): Promise<void> {
      const answer = await visit({ url: new URL('index.yaml', base), authorization, authorities, signal })
      const isIndex = await beginsAsIndex(requireFound(answer, base.href))
      answer.body.destroy()
      if (!isIndex) throw notAnIndex(base)
    },
    async download({ url: place }: ChartVersion): Promise<WebAnswer> {
      const isOwn = place.origin === base.origin
      const shown = { authorization: isOwn ? authorization : undefined, authorities }
      return requireFound(await visit({ url: place, ...shown, within: DOWNLOAD_WITHIN, signal }), base.href)
    },
  }
}

const missing = ({ href }: URL, what: string): Failure =>
  new Failure('not-found', `${href} has no ${what}`, { reason: 'RefNotFound', remedy: 'Name one that is there.' })

const notAChart = (name: string): Failure =>
  new Failure('invalid', `${JSON.stringify(name.slice(0, 300))} cannot be the name of a chart`, {
    reason: 'RefInvalid',
    remedy: 'Correct spec.source.chart.name.',
  })

/**
 * The lines that an index has for one chart: those of others, megabytes mostly, are passed over as they come. Where it is one line of
 * JSON, all of it.
 */
async function sectionOf(answer: WebAnswer, chart: string): Promise<string | 'none' | undefined> {
  const decoder = new StringDecoder('utf8')
  const cut = createCutter(chart)
  /** Of the last line, which has no end yet. */
  let rest = ''
  let bytes = 0
  let isJson: boolean | undefined
  try {
    for await (const chunk of answer.body) {
      bytes += chunk.length
      const [first = '', ...lines] = decoder.write(chunk).split('\n')
      isJson ??= first === '' ? undefined : first.startsWith('{')
      rest += first
      for (const line of lines) {
        if (!isJson) cut.take(rest)
        rest = isJson ? rest + line : line
      }
      if (bytes > MOST_OF_INDEX || rest.length + cut.length > MOST_OF_CHART) throw tooLarge(answer)
    }
  } catch (thrown) {
    throw unreachable(answer, thrown)
  }
  if (isJson) return rest
  cut.take(rest)
  return cut.isIndex ? cut.section() : 'none'
}

const tooLarge = ({ url }: WebAnswer): Failure =>
  new Failure('too-large', `${url.origin}${url.pathname} is longer than what is read of an index`, {
    reason: 'AnswerTooLarge',
    remedy: 'Serve fewer versions of the chart, or take it from a registry (oci://).',
  })

/** Its first letters, which name its format and its entries in some order. */
async function beginsAsIndex({ body }: WebAnswer): Promise<boolean> {
  let text = ''
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.length > 4096) break
  }
  return /^(?:apiVersion|entries|generated|serverInfo):/m.test(text) || text.trimStart().startsWith('{')
}

const notAnIndex = ({ href }: URL): Failure =>
  new Failure('invalid', `${href}index.yaml is none of Helm's`, {
    reason: 'ProtocolError',
    remedy: 'Check spec.url: it is what helm repo add takes.',
  })

/** What is wanted of a version: an index says much more, and of some charts there are thousands. */
const WANTED: ReadonlySet<string | undefined> = new Set(['version', 'digest', 'urls'])

/** Takes the lines of an index one by one, as `helm repo index` writes them, and keeps what is wanted of one chart. */
function createCutter(chart: string) {
  const kept: string[] = []
  let length = 0
  let place: 'before' | 'among' | 'in' | 'after' = 'before'
  /** Blanks before the names of charts, and before the dash of a version. */
  let [ofNames, ofVersions]: (number | undefined)[] = []
  let isWanted = false
  const keep = (line: string) => {
    kept.push(line)
    length += line.length + 1
  }
  const takeVersion = (line: string, depth: number) => {
    ofVersions ??= depth
    const begins = depth === ofVersions && line[depth] === '-'
    if (begins) keep(`${' '.repeat(depth)}-`)
    const inner = begins ? `${' '.repeat(depth + 1)}${line.slice(depth + 1)}` : line
    const isKey = begins || (depth === ofVersions + 2 && line[depth] !== '-')
    if (isKey) isWanted = WANTED.has(keyOf(inner))
    if (isWanted) keep(inner)
  }
  return {
    get length() {
      return length
    },
    get isIndex() {
      return place !== 'before'
    },
    take(line: string) {
      if (place === 'before' && line.startsWith('entries:')) {
        place = line.trimEnd() === 'entries:' ? 'among' : 'after'
        return
      }
      if (place === 'before' || place === 'after' || line.trim() === '') return
      const depth = line.length - line.trimStart().length
      const isItem = line[depth] === '-'
      if (depth === 0 && !isItem) {
        place = 'after'
        return
      }
      ofNames ??= depth
      if (depth > ofNames || isItem) {
        if (place === 'in') takeVersion(line, depth)
        return
      }
      place = keyOf(line) === chart ? 'in' : 'among'
      if (place === 'in') keep(line)
    },
    section: () => (kept.length === 0 ? undefined : `entries:\n${kept.join('\n')}\n`),
  }
}

const keyOf = (line: string): string | undefined => /^ *["']?([^"':\s]{1,300})["']?:(?:\s|$)/.exec(line)?.[1]

interface IndexAbout {
  chart: string
  base: URL
  yaml: ReadYaml
}

async function readVersions(section: string, { chart, base, yaml }: IndexAbout): Promise<ChartVersion[]> {
  const { documents, problem } = await yaml(section)
  const index = documents?.[0]?.value
  const list = isRecord(index) && isRecord(index.entries) ? (index.entries[chart] ?? []) : undefined
  if (problem || !Array.isArray(list)) throw notAnIndex(base)
  return list.slice(0, MOST_VERSIONS).flatMap((one) => versionIn(one, base))
}

function versionIn(entry: unknown, base: URL): ChartVersion[] {
  if (!isRecord(entry) || !Array.isArray(entry.urls)) return []
  const { version, digest } = entry
  const [place] = entry.urls
  if (typeof version !== 'string' || typeof place !== 'string' || !URL.canParse(place, base.href)) return []
  const url = new URL(place, base)
  const told = typeof digest === 'string' ? /^(?:sha256:)?([0-9a-f]{64})$/.exec(digest)?.[1] : undefined
  if (told !== undefined) return [{ version, url, digest: told, isTold: true }]
  return [{ version, url, digest: createHash('sha256').update(JSON.stringify(entry)).digest('hex'), isTold: false }]
}
