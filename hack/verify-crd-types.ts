/** Fails, with the name of the file, when src/api/generated is not what crds/ say. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateCrdTypes, generatedFolder } from './update-crd-types.ts'

/** Names of generated files that differ, are missing or are left over. */
export async function staleTypeFiles(): Promise<string[]> {
  const fresh = mkdtempSync(join(tmpdir(), 'berth-types-'))
  try {
    await generateCrdTypes(fresh)
    const names = new Set([...readdirSync(fresh), ...readdirSync(generatedFolder)])
    return [...names].filter((name) => contentOf(join(fresh, name)) !== contentOf(join(generatedFolder, name)))
  } finally {
    rmSync(fresh, { recursive: true })
  }
}

const contentOf = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

if (import.meta.main) {
  const stale = await staleTypeFiles()
  if (stale.length > 0) console.error(`src/api/generated is stale: ${stale.join(', ')}. Run: node hack/update-crd-types.ts`)
  process.exitCode = stale.length > 0 ? 1 : 0
}
