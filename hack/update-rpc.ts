/** Writes src/rpc/generated from src/rpc/*.proto. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
export const generatedFolder = join(root, 'src/rpc/generated')

/** Runs buf, which checks and compiles the protos without a network, into a folder that holds nothing else. */
export function generateRpc(out: string): void {
  for (const name of readdirSync(out)) rmSync(join(out, name))
  const scratch = mkdtempSync(join(tmpdir(), 'berth-buf-'))
  try {
    const template = join(scratch, 'buf.gen.json')
    const plugin = {
      local: join(root, 'node_modules/.bin/protoc-gen-es'),
      out,
      opt: ['target=ts', 'import_extension=ts', 'erasable_syntax=true', 'elide_plugin_version=true'],
    }
    writeFileSync(template, JSON.stringify({ version: 'v2', plugins: [plugin] }))
    execFileSync(join(root, 'node_modules/.bin/buf'), ['generate', 'src/rpc', '--template', template], {
      cwd: root,
      stdio: 'inherit',
    })
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

if (import.meta.main) {
  mkdirSync(generatedFolder, { recursive: true })
  generateRpc(generatedFolder)
}
