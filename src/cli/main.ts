#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { exitCodes } from './exit-codes.ts'
import { run } from './run.ts'
import { paintFor, type Shell } from './shell.ts'

// The only file that touches signals and the end of the process.
const stop = new AbortController()
let asked = 0
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    asked += 1
    if (asked > 1) process.exit(exitCodes.interrupted)
    stop.abort()
  })
}

// `berth crds | head` closes our output early: that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok)
    throw error
  })
}

const shell: Shell = {
  print: (text) => void process.stdout.write(`${text}\n`),
  say: (text) => void process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
  home: fileURLToPath(new URL('../..', import.meta.url)),
  berth: [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)],
  signal: stop.signal,
  paint: paintFor(process.stdout, process.env),
  lively: process.stderr.isTTY === true,
}

// Kept-alive connections must not hold up a command that is done.
process.exit(await run(process.argv.slice(2), shell))
