/**
 * `node test/runner/host.ts FILE…`: runs test files one after the other in this process, each when nothing of the one before
 * is left. Each has a folder of its own for temporary things, and fails when it leaves any. Marks in its output tell
 * test/runner/attempt.ts where a file begins and ends, and what it cost.
 */
import { subscribe } from 'node:diagnostics_channel'
import { mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { linesUnderWay } from '../support/under-way.ts'
import { lineOf, type Mark } from './marks.ts'

/** How long a file may keep the process alive after its last test. */
const LEFTOVERS_MS = Number(process.env.TEST_LEFTOVERS_MS ?? 20_000)
/** A tick of the times in /proc. */
const TICK_MS = 10

const uvu = globalThis as { UVU_DEFER?: number; UVU_QUEUE?: unknown[][] }
uvu.UVU_DEFER = 1
const { exec } = await import('uvu')

const files = process.argv.slice(2).values()
const temporary = tmpdir()
let current: { file: string; since: number; cpu: number; done: boolean } | undefined

process.on('beforeExit', () => {
  if (current && !current.done) {
    console.error('nothing is left to happen, and a test still waits')
    process.exit(1)
  }
  if (current) end(current)
  current = undefined
  const { value: file } = files.next()
  // A turn of the event loop later: this event comes again only after one.
  if (file !== undefined) setImmediate(() => void run(file))
})

const unanswered = new Map<unknown, number>()
for (const name of ['create', 'trailers', 'error'])
  subscribe(`undici:request:${name}`, (message) => {
    const request = typeof message === 'object' && message !== null && Reflect.get(message, 'request')
    if (name === 'create') unanswered.set(request, Date.now())
    else unanswered.delete(request)
  })

// Its time is over: this is what test/runner/execute.ts asks before it ends it.
process.on('SIGUSR2', () => {
  const requests = [...unanswered].map(([request, since]) => {
    const [method, path] = ['method', 'path'].map((name) => typeof request === 'object' && request && Reflect.get(request, name))
    return `${Math.round((Date.now() - since) / 1000)} s: ${method} ${path}`
  })
  const open = process.getActiveResourcesInfo().join(', ')
  console.error(['it waits:', ...linesUnderWay(), 'requests:', ...requests, `open: ${open}`].join('\n'))
})

process.on('exit', () => {
  if (current) leftovers()
})

async function run(file: string): Promise<void> {
  const mine = { file, since: Date.now(), cpu: cpuTime(), done: false }
  current = mine
  process.env.TMPDIR = mkdtempSync(join(temporary, 'berth-file-'))
  write({ begin: file, folder: process.env.TMPDIR })
  uvu.UVU_QUEUE?.splice(0, Number.POSITIVE_INFINITY, [null])
  await import(pathToFileURL(resolve(file)).href)
  await exec()
  mine.done = true
  // Such a timer keeps no process alive itself.
  AbortSignal.timeout(LEFTOVERS_MS).addEventListener('abort', () => {
    if (current === mine) complain()
  })
}

function end({ file, since, cpu }: NonNullable<typeof current>): void {
  const left = leftovers()
  if (left.length > 0) {
    console.error(`it leaves ${left.join(', ')} in ${tmpdir()}`)
    process.exitCode = 1
  }
  write({ end: file, ms: Date.now() - since, cpuMs: cpuTime() - cpu, code: Number(process.exitCode ?? 0) })
  process.exitCode = 0
}

/** What a file put into its folder for temporary things and did not remove. The folder goes when it is empty. */
function leftovers(): string[] {
  const left = readdirSync(tmpdir())
  if (left.length === 0) rmdirSync(tmpdir())
  return left
}

function complain(): void {
  // The pipe that this goes to is not its doing.
  const [, ...left] = process.getActiveResourcesInfo().sort((a, b) => Number(b === 'PipeWrap') - Number(a === 'PipeWrap'))
  console.error(`its tests are done, and these keep its process alive: ${left.join(', ')}`)
  process.exit(1)
}

/** Milliseconds of this process and of the children that it has seen end. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1000) + childrenTime()
}

function childrenTime(): number {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

function write(mark: Mark): void {
  process.stdout.write(lineOf(mark))
}
