import { isMetadata, type Leaf, macTextOf, pathOf, type SealedFile } from '../../adapters/sops/index.ts'
import type { ReadYamlTree, YamlTree } from '../../std/index.ts'
import { partsOf } from './documents.ts'
import type { Manifest } from './manifest.ts'
import { LIMITS, type SourceFile, textIn } from './source.ts'

/** What a file holds of encrypted documents, as the code of authentication covers them: those that have one together. */
export async function sealedIn(file: SourceFile, yaml: ReadYamlTree, tenant?: string): Promise<readonly SealedFile[]> {
  if (!isMaybeSealed(file) || file.data.length > LIMITS.fileBytes) return []
  const { text } = textIn(file)
  if (text === undefined) return []
  const found = new Map<string, SealedFile & { leaves: Leaf[] }>()
  for (const part of partsOf(text)) {
    const { tree, problem } = await yaml(part, { file: file.source }, tenant)
    // It may be of any form, and is none of SOPS' then.
    if (problem) return []
    if (tree?.kind !== 'map') continue
    const sops = plainOf(tree.entries.get('sops')?.value)
    if (!isMetadata(sops)) continue
    const mac = String(sops.mac)
    const sealed = found.get(mac) ?? { source: file.source, metadata: sops, leaves: [] }
    found.set(mac, sealed)
    for (const [key, { value }] of tree.entries) if (key !== 'sops') collect(value, [key], sealed.leaves)
  }
  return [...found.values()]
}

/** Most files are not, and are not read a second time. */
const isMaybeSealed = ({ data }: SourceFile): boolean => {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return bytes.includes('sops') && bytes.includes('ENC[')
}

function collect(tree: YamlTree, keys: readonly string[], leaves: Leaf[]): void {
  if (tree.kind === 'list') {
    for (const item of tree.items) collect(item, keys, leaves)
  } else if (tree.kind === 'map') {
    for (const [key, { value }] of tree.entries) collect(value, [...keys, key], leaves)
  } else if (tree.value !== null) {
    // Go takes these for truths only where it is told that they are some.
    const isWord = typeof tree.value === 'boolean' && !/^(?:true|false)$/i.test(tree.source)
    const text = isWord ? tree.source : macTextOf(tree.value)
    leaves.push({ path: pathOf(keys), text })
  }
}

function plainOf(tree: YamlTree | undefined): unknown {
  if (tree?.kind === 'list') return tree.items.map(plainOf)
  if (tree?.kind === 'map') return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, plainOf(value)]))
  return tree?.value
}

/** The manifests, each with the file that it is from, if it was encrypted. */
export function withFiles(manifests: readonly Manifest[], files: readonly SealedFile[]): readonly Manifest[] {
  if (files.length === 0) return manifests
  const byMac = new Map(files.map((file) => [String(file.metadata.mac), file]))
  return manifests.map((manifest) => {
    const { sealed } = manifest
    const file = sealed?.metadata && byMac.get(String(sealed.metadata.mac))
    return sealed && file ? { ...manifest, sealed: { ...sealed, file } } : manifest
  })
}
