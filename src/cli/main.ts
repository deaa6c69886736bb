#!/usr/bin/env node
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { keepCompiled } from './compile-cache.ts'
import { exitCodes } from './exit-codes.ts'
import { OUTPUT_CLOSED, paintFor, type Shell } from './shell.ts'

// The only file that touches signals and the end of the process.
const stop = new AbortController()
// A Ctrl-C reaches us twice when npm started us: from the terminal, and from npm. Milliseconds.
const SAME_PRESS = 500
// Connections that are still open when all is done may hold up the end for so many milliseconds.
const EXIT_GRACE = 1000
let askedAt: number | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const now = performance.now()
    askedAt ??= now
    stop.abort()
    if (now - askedAt <= SAME_PRESS) return
    // At once, by the signal itself: process.exit() would wait for V8's threads. The first process of a container is not ended by one.
    if (process.pid === 1) process.exit(exitCodes.interrupted)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

// `berth crds | head` closes our output early, and so does a terminal that is closed: that is no error, but a full disk is. What runs
// is taken down as after Ctrl-C.
let unwritten: NodeJS.ErrnoException | undefined
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') unwritten ??= error
    stop.abort(new DOMException(OUTPUT_CLOSED, 'AbortError'))
  })
}

const shell: Shell = {
  print: (line) => void process.stdout.write(`${line}\n`),
  say: (words) => void process.stderr.write(words),
  readInput: () => text(addAbortSignal(stop.signal, process.stdin)),
  streams: () => ({ input: process.stdin, output: process.stdout }),
  ask,
  handOver,
  env: process.env,
  cwd: process.cwd(),
  home: fileURLToPath(new URL('../..', import.meta.url)),
  berth: [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)],
  signal: stop.signal,
  paint: paintFor(process.stdout, process.env),
  lively: process.stderr.isTTY === true,
}

async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // It takes Ctrl-C for a key, so that no signal comes.
  terminal.on('SIGINT', () => stop.abort())
  try {
    return await terminal.question(question, { signal: stop.signal })
  } finally {
    terminal.close()
  }
}

async function handOver(program: string, parameters: readonly string[]): Promise<number> {
  const { spawn } = await import('node:child_process')
  const child = spawn(program, parameters, { stdio: 'inherit', signal: stop.signal })
  return new Promise((resolve, reject) => {
    // It ends by the signal, too, and is waited for.
    child.once('error', (error) => error.name === 'AbortError' || reject(error))
    child.once('close', (ended) => resolve(ended ?? exitCodes.interrupted))
  })
}

// V8 widens its nursery to 64 MB while hundreds of files and long lists are read, and lets garbage grow to a multiple of what lives.
// It gives neither back: more than a third of an idle operator (docs/decisions/0024-memory-before-speed.md).
for (const flag of ['--semi-space-growth-factor=1', '--optimize-for-size']) setFlagsFromString(flag)

keepCompiled(process.env)

// Loaded only now: whoever ends us while hundreds of files are read is heard, also by the first process of a container.
const { run } = await import('./run.ts')
const code = await run(process.argv.slice(2), shell)
// A pipe takes long output in pieces: an exit before the last one would cut it off.
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()))
if (unwritten) shell.say(`berth: the output cannot be written: ${unwritten.message}.\n`)
// Not process.exit(): it waits for V8's threads, and one that compiles may wait for this one to collect garbage. Of starts with these
// flags 2 in 100 hung so (docs/decisions/0024). Kept-alive connections must not hold up a command that is done, and by then none compiles.
process.exitCode = unwritten ? exitCodes.failed : code
AbortSignal.timeout(EXIT_GRACE).addEventListener('abort', () => process.exit())
