/** Images as files: an OCI image layout (https://github.com/opencontainers/image-spec), which every registry and runtime takes. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { SAME_BYTES } from '../../src/adapters/control-plane/index.ts'

/** Says of a blob what others need to fetch and to check it. */
interface Descriptor {
  mediaType: string
  /** As in `sha256:…`. */
  digest: string
  /** Bytes. */
  size: number
}

export interface Layer extends Descriptor {
  /** The digest of the layer's tar before gzip, as the image's configuration has it. */
  diffId: string
  /** Bytes of the tar. */
  unpacked: number
}

interface ImagePlan {
  /** By the name that Go and registries have for it. */
  architecture: string
  /** Of the image's configuration: what runs, as whom, with which environment. */
  config: Record<string, unknown>
  layers: readonly Layer[]
  /** The time that the image claims to be of. */
  created: Date
}

/** An image for one kind of machine, in a list of those for several. */
export interface PlatformImage extends Descriptor {
  platform: { architecture: string; os: string }
}

const MEDIA = {
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  config: 'application/vnd.oci.image.config.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
}

/** Whatever umask, npm and Debian made of permissions: all may read, one alone may write, and no program makes its user another. */
const MODE = '--mode=u=rwX,go=rX,a-st'
/** Whoever runs in the image may write there. */
const WRITABLE = 'tmp'

/** The folder of an image layout. */
export class Layout {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  async begin(): Promise<void> {
    await mkdir(this.#blobs, { recursive: true })
    await writeFile(join(this.folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  }

  /** Packs the files of a folder, which become those of the image's root. */
  async addLayer(root: string): Promise<Layer> {
    const [tar, packed] = [join(this.folder, 'layer.tar'), join(this.folder, 'layer.tar.gz')]
    const pack = (...words: string[]) => promisify(execFile)('tar', [...SAME_BYTES, '--file', tar, '--directory', root, ...words])
    await pack('--create', MODE, `--exclude=./${WRITABLE}`, '.')
    if (existsSync(join(root, WRITABLE))) await pack('--append', '--mode=1777', `./${WRITABLE}`)
    const [before, after] = [createHash('sha256'), createHash('sha256')]
    const noting = (hash: typeof before) => new PassThrough().on('data', (chunk: Buffer) => hash.update(chunk))
    await pipeline(createReadStream(tar), noting(before), createGzip({ level: 9 }), noting(after), createWriteStream(packed))
    const [{ size: unpacked }, { size }] = await Promise.all([stat(tar), stat(packed)])
    const digest = after.digest('hex')
    await rename(packed, join(this.#blobs, digest))
    await rm(tar)
    return { mediaType: MEDIA.layer, digest: `sha256:${digest}`, size, diffId: `sha256:${before.digest('hex')}`, unpacked }
  }

  async addImage({ architecture, config, layers, created }: ImagePlan): Promise<PlatformImage> {
    const platform = { architecture, os: 'linux' }
    const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) }
    const configuration = await this.#addJson(MEDIA.config, { created: created.toISOString(), ...platform, config, rootfs })
    const described = layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size }))
    const manifest = { schemaVersion: 2, mediaType: MEDIA.manifest, config: configuration, layers: described }
    return { ...(await this.#addJson(MEDIA.manifest, manifest)), platform }
  }

  /** Lists the images of one name for several kinds of machines; gives the descriptor of the list, which people pull. */
  addList(images: readonly PlatformImage[]): Promise<Descriptor> {
    return this.#addJson(MEDIA.index, { schemaVersion: 2, mediaType: MEDIA.index, manifests: images })
  }

  /** Names what the layout is of: descriptors of lists, by name and tag. */
  async end(named: readonly { name: string; tag: string; list: Descriptor }[]): Promise<void> {
    const manifests = named.map(({ name, tag, list }) => ({
      ...list,
      // The second is what containerd and Docker read when they import the file.
      annotations: { 'org.opencontainers.image.ref.name': tag, 'io.containerd.image.name': `${name}:${tag}` },
    }))
    await writeFile(join(this.folder, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: MEDIA.index, manifests }))
  }

  /** All of it in one file, as `docker load`, `podman load`, `skopeo` and `ctr images import` take it. */
  async archive(file: string): Promise<void> {
    await promisify(execFile)('tar', ['--create', ...SAME_BYTES, MODE, '--file', file, '--directory', this.folder, '.'])
  }

  async #addJson(mediaType: string, value: unknown): Promise<Descriptor> {
    const text = JSON.stringify(value)
    const digest = createHash('sha256').update(text).digest('hex')
    await writeFile(join(this.#blobs, digest), text)
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) }
  }

  get #blobs(): string {
    return join(this.folder, 'blobs', 'sha256')
  }
}
