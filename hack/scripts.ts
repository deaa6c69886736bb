import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

/** Runs all scripts of one kind, one after the other, each to its end; gives the exit code for all of them. */
export async function runScripts(kind: 'verify' | 'update'): Promise<number> {
  const scripts = globSync(`${kind}-*.ts`, { cwd: import.meta.dirname }).filter((name) => name !== `${kind}-all.ts`)
  const failed: string[] = []
  for (const script of scripts.sort()) {
    const code = await run(join(import.meta.dirname, script))
    console.log(`${code === 0 ? 'ok     ' : 'FAILED '} hack/${script}`)
    if (code !== 0) failed.push(script)
  }
  if (failed.length > 0) console.log(`${failed.length} of ${scripts.length} failed: ${failed.join(', ')}`)
  return failed.length > 0 ? 1 : 0
}

function run(file: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], { stdio: 'inherit', cwd: join(import.meta.dirname, '..') })
    child.on('close', (code) => resolve(code ?? 1))
  })
}
