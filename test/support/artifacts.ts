/** Pushes to a registry what people have pushed there: by `helm push`, and as `flux push artifact` and `oras push` do it. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { wholeHelm } from './helm.ts'

export type Entries = Readonly<Record<string, string | Partial<Header>>>

/** An archive with these files; in place of a text, anything else that an archive may hold. */
export function tarOf(entries: Entries): Promise<Buffer> {
  const archive = pack()
  for (const [name, content] of Object.entries(entries))
    if (typeof content === 'string') archive.entry({ name }, content)
    else archive.entry({ name, ...content }, '')
  archive.finalize()
  return buffer(archive)
}

export const FLUX = 'application/vnd.cncf.flux.content.v1.tar+gzip'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

export interface Layer {
  mediaType: string
  bytes: Uint8Array
  annotations?: Record<string, string>
}

/** The layer that Flux makes of a folder. */
export const fluxLayer = async (entries: Entries): Promise<Layer> => ({ mediaType: FLUX, bytes: gzipSync(await tarOf(entries)) })

export interface Pushed {
  /** Such as `http://localhost:5000`. */
  registry: string
  repository: string
  tag: string
  authorization?: string
  annotations?: Record<string, string>
  /** Beside, or in place of, what is usual. */
  manifest?: object
}

/** Gives the digest of the manifest, in hexadecimal digits. */
export async function pushArtifact({ registry, repository, tag, ...how }: Pushed, layers: readonly Layer[]): Promise<string> {
  const headers: Record<string, string> = how.authorization ? { authorization: how.authorization } : {}
  const blob = async (bytes: Uint8Array) => {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    const begun = await fetch(`${registry}/v2/${repository}/blobs/uploads/`, { method: 'POST', headers })
    const place = new URL(begun.headers.get('location') ?? '', registry)
    place.searchParams.set('digest', digest)
    const done = await fetch(place, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: bytes,
    })
    if (done.status !== 201) throw new Error(`${done.status} ${await done.text()}`)
    return { digest, size: bytes.length }
  }
  const described: object[] = []
  for (const { bytes, ...rest } of layers) described.push({ ...rest, ...(await blob(bytes)) })
  const config = { mediaType: 'application/vnd.oci.empty.v1+json', ...(await blob(Buffer.from('{}'))) }
  const { annotations } = how
  const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers: described, annotations, ...how.manifest }
  const body = JSON.stringify(manifest)
  const put = await fetch(`${registry}/v2/${repository}/manifests/${tag}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': manifest.mediaType },
    body,
  })
  if (put.status !== 201) throw new Error(`${put.status} ${await put.text()}`)
  return createHash('sha256').update(body).digest('hex')
}

/** A chart with one ConfigMap in it, packed by Helm itself. Gives the archive's file. */
export async function packChart(
  folder: string,
  name: string,
  version: string,
  files: Record<string, string> = {},
): Promise<string> {
  const all: Record<string, string> = {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\nappVersion: "1"\n`,
    'values.yaml': 'color: blue\n',
    'templates/settings.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}-settings"}\ndata: {color: "{{ .Values.color }}", version: "{{ .Chart.Version }}"}\n',
    ...files,
  }
  const source = join(folder, `source-${version}`, name)
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), text)
  }
  await runHelm('package', source, '--destination', folder)
  return join(folder, `${name}-${version}.tgz`)
}

export async function runHelm(...words: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(await wholeHelm(), words, { env: { HOME: '/nowhere' } })
  return stdout + stderr
}
