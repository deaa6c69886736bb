import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Layout } from '../../../hack/image/oci.ts'
import { lock } from '../../../src/adapters/control-plane/servers/lock.ts'
import { Failure, systemClock } from '../../../src/std/index.ts'

export const REPOSITORY = join(import.meta.dirname, '..', '..', '..')
export const ARCHITECTURE = arch() === 'x64' ? 'amd64' : arch()

const run = promisify(execFile)

/** Images and what installs them. */
export interface Made {
  /** In it `images.tar` and `install.yaml`. */
  folder: string
  /** By name, such as `localhost/berth:0.1.0`. */
  digests: ReadonlyMap<string, string>
}

/** Writes the images that a repository makes, and what installs them, into a folder. */
export async function makeImages(
  repository: string,
  folder: string,
  { name = 'localhost/berth', mask = '022' } = {},
): Promise<Made> {
  const words = ['hack/image/make.ts', '--architecture', ARCHITECTURE, '--output', folder, '--name', name]
  const shell = ['-c', 'umask "$0"; exec "$@"', mask, process.execPath, ...words]
  const { stdout } = await run('sh', shell, { cwd: repository })
  const named = stdout.matchAll(/^(\S+)@(sha256:\w+)$/gm)
  return { folder, digests: new Map(Array.from(named, ([, image = '', digest = '']) => [image, digest])) }
}

/** The images of this repository. To make them takes longer than many a test: the first file of a run that wants them does. */
export async function ourImages(): Promise<Made> {
  const shared = process.env.TEST_IMAGES
  if (!shared) throw new Failure('invalid', 'TEST_IMAGES is not set', { remedy: 'Run the tests by `npm test`.' })
  const [folder, note] = [join(shared, 'made'), join(shared, 'digests.json')]
  const unlock = await lock(join(shared, 'lock'), { clock: systemClock, waiting: () => undefined })
  try {
    if (existsSync(note)) return { folder, digests: new Map(JSON.parse(await readFile(note, 'utf8'))) }
    await rm(folder, { recursive: true, force: true })
    const made = await makeImages(REPOSITORY, folder)
    await writeFile(note, JSON.stringify([...made.digests]))
    return made
  } finally {
    unlock()
  }
}

interface Manifest {
  annotations: Record<string, string>
  mediaType: string
  digest: string
  size: number
}

/** An archive of images, unpacked into a folder. */
export async function openImages(archive: string, folder: string): Promise<{ layout: Layout; manifests: Manifest[] }> {
  const layout = new Layout(folder)
  await mkdir(folder, { recursive: true })
  await run('tar', ['--extract', '--file', archive, '--directory', folder])
  const { manifests } = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'))
  return { layout, manifests }
}

/** Writes an archive with the images of another, by the names that the documents have for them. The folder is for what is made. */
export async function renameImages(archive: string, folder: string, names: Record<string, string[]>): Promise<string> {
  const { layout, manifests } = await openImages(archive, join(folder, 'layout'))
  const lists = manifests.flatMap(({ annotations, mediaType, digest, size }) =>
    (names[annotations['io.containerd.image.name'] ?? ''] ?? []).map((reference) => {
      const [name = '', tag = ''] = reference.split(/:(?=[^:/]*$)/)
      return { name, tag, list: { mediaType, digest, size } }
    }),
  )
  await layout.end(lists)
  const renamed = join(folder, 'images.tar')
  await layout.archive(renamed)
  return renamed
}
