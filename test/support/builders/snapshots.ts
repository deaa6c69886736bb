import { createHash } from 'node:crypto'
import { acquireTools } from '../../../src/adapters/control-plane/index.ts'
import type { Snapshot, SourceFile } from '../../../src/engines/render/index.ts'

/** A commit of these files; its id is their digest. An object is written as JSON, which is YAML too; one that is a `link` only is that. */
export function snapshot(files: Record<string, string | object>): Snapshot {
  const entries = Object.entries(files).map(([source, content]): SourceFile => {
    if (typeof content === 'object' && 'link' in content) return { source, data: Buffer.alloc(0), link: String(content.link) }
    return { source, data: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content, undefined, 2)) }
  })
  return { commitId: createHash('sha1').update(JSON.stringify(files)).digest('hex'), files: entries }
}

export const configMap = (name: string, data: Record<string, string> = {}, namespace?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace && { namespace }) },
  data,
})

/** The real kubectl, which contains kustomize. */
export async function kubectl(): Promise<string> {
  const { paths } = await acquireTools({ env: process.env, wanted: ['kubectl'] })
  return paths.kubectl ?? 'kubectl'
}
