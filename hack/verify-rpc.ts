/** Fails, with the name of the file, when src/rpc/generated is not what the protos say. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatedFolder, generateRpc } from './update-rpc.ts'

/** Names of generated files that differ, are missing or are left over. */
export function staleRpcFiles(): string[] {
  const fresh = mkdtempSync(join(tmpdir(), 'berth-rpc-'))
  try {
    generateRpc(fresh)
    const names = new Set([...readdirSync(fresh), ...readdirSync(generatedFolder)])
    return [...names].filter((name) => contentOf(join(fresh, name)) !== contentOf(join(generatedFolder, name)))
  } finally {
    rmSync(fresh, { recursive: true })
  }
}

const contentOf = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

if (import.meta.main) {
  const stale = staleRpcFiles()
  if (stale.length > 0) console.error(`src/rpc/generated is stale: ${stale.join(', ')}. Run: node hack/update-rpc.ts`)
  process.exitCode = stale.length > 0 ? 1 : 0
}
