/** Programs in Go that the tests need: peers that are none of ours, with the source of their own in a folder here. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { Failure, minutes } from '../../src/std/index.ts'
import { placeFor } from './cache.ts'

/** Where the program of a folder is, or will be. */
function placeOf(source: string, name = basename(source)): { folder: string; program: string } {
  const files = readdirSync(source).toSorted()
  const folder = placeFor(
    name,
    files.map((file) => join(source, file)),
  )
  return { folder, program: join(folder, name) }
}

export const isBuilt = (source: string): boolean => existsSync(placeOf(source).program)

/** Why the tests with it are left out: whoever tests with a cluster of his own needs no Go. `undefined` where there is one. */
export async function lacksGo(source: string): Promise<string | undefined> {
  return isBuilt(source) ? undefined : whyNoGo()
}

/** `undefined` where there is Go. */
export async function whyNoGo(): Promise<string | undefined> {
  try {
    await promisify(execFile)('go', ['version'])
    return undefined
  } catch {
    return 'there is no Go on this machine, and foreign peers are programs in Go: install Go 1.26 or newer'
  }
}

/**
 * The program of a folder, built when its source is new here, or another one that its module requires. It needs Go, and the Go modules that
 * the control plane has too.
 */
export async function buildGo(source: string, other?: { name: string; package: string }): Promise<string> {
  const { folder, program } = placeOf(source, other?.name)
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const beside = `${program}.${process.pid}`
  try {
    await promisify(execFile)('go', ['build', '-trimpath', '-o', beside, other?.package ?? '.'], {
      cwd: source,
      env: { ...process.env, CGO_ENABLED: '0' },
      timeout: minutes(8),
    })
  } catch (cause) {
    throw new Failure('unavailable', `${basename(source)} of the tests cannot be built`, {
      cause,
      remedy: 'Install Go 1.26 or newer, with a module cache or a module proxy in reach.',
    })
  }
  // Whoever builds the same at the same time makes the same.
  renameSync(beside, program)
  return program
}

/** Starts one that ends with this process, and reads its first lines. */
export async function startServing(program: string, parameters: string[], count: number) {
  const child = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === count) break
  if (lines.length < count) throw new Failure('unavailable', `${basename(program)} ended early, after ${lines.length} lines`)
  return {
    lines,
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
