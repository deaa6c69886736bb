import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Layout } from '../../../hack/image/oci.ts'

interface Manifest {
  annotations: Record<string, string>
  mediaType: string
  digest: string
  size: number
}

/** Writes an archive with the images of another, by the names that the documents have for them. The folder is for what is made. */
export async function renameImages(archive: string, folder: string, names: Record<string, string[]>): Promise<string> {
  const layout = new Layout(join(folder, 'layout'))
  await mkdir(layout.folder, { recursive: true })
  await promisify(execFile)('tar', ['--extract', '--file', archive, '--directory', layout.folder])
  const { manifests }: { manifests: Manifest[] } = JSON.parse(await readFile(join(layout.folder, 'index.json'), 'utf8'))
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
