/**
 * `npm test`: lint, types, generated files, then every test file in a process of its own, all against one real API server.
 * `npm test -- PART` runs only what has PART in its name. TEST_KUBECONFIG names a cluster to use, TEST_JOBS how many files
 * run at once. A file that fails is run once more, alone, after all others; if it then passes it counts, a line calls it UNSTABLE,
 * and what it printed first is kept in test-results/. The last line is the result; the exit code is 0 only if something ran and
 * nothing failed. What this machine lacks something for is left out, and a line says so.
 */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { chdir } from 'node:process'
import { Failure, seconds } from '../src/std/index.ts'
import { type SharedCluster, sharedCluster } from './runner/cluster.ts'
import { type Command, type Execution, execute } from './runner/execute.ts'
import { type Attempt, keepOutput, tryAgain } from './runner/second-try.ts'
import { type Verdict, verdictOfCheck, verdictOfTests } from './runner/verdict.ts'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')
const SLOW = seconds(10)
const RESULTS = 'test-results'

const CHECKS: Command[] = [
  { title: 'types', program: join(BIN, 'tsc'), parameters: ['--noEmit'] },
  { title: 'lint', program: join(BIN, 'biome'), parameters: ['check', '--error-on-warnings', '.'] },
  { title: 'unused code (knip)', program: join(BIN, 'knip'), parameters: ['--no-progress'] },
  { title: 'generated files (verify)', program: process.execPath, parameters: ['hack/verify-all.ts'] },
]

interface Score {
  passed: number
  failed: number
  leftOut: number
}

async function main(pattern: string, signal: AbortSignal): Promise<Score> {
  const total: Score = { passed: 0, failed: 0, leftOut: 0 }
  const checks = CHECKS.filter(({ title }) => title.includes(pattern))
  const files = globSync('test/**/*.test.ts')
    .sort()
    .filter((file) => file.includes(pattern))

  // The control plane comes up while the checks run: both take a few seconds.
  const rising = files.length > 0 ? sharedCluster(print, signal) : undefined
  rising?.catch(() => undefined) // reported below
  await inParallel(checks, 1, signal, async (check) => {
    const execution = await execute(check, signal)
    settle(total, check.title, verdictOfCheck(execution), execution)
  })

  const cluster = await rising?.catch((thrown: unknown) => noCluster(total, thrown))
  try {
    if (cluster) await runFiles(files, cluster, total, signal)
  } finally {
    await cluster?.remove()
  }
  return total
}

function noCluster(total: Score, thrown: unknown): undefined {
  const { message, remedy } = Failure.from(thrown)
  print(`FAILED  the control plane: ${message} ${remedy ?? ''}`)
  total.failed++
}

async function runFiles(files: string[], { kubeconfig }: SharedCluster, total: Score, signal: AbortSignal): Promise<void> {
  const jobs = Number(process.env.TEST_JOBS) || Math.min(3, Math.max(2, availableParallelism()))
  const run = (file: string) =>
    execute({ title: file, program: process.execPath, parameters: [file], env: { TEST_KUBECONFIG: kubeconfig } }, signal)
  const failures: Attempt[] = []
  await inParallel(files, jobs, signal, async (file) => {
    const execution = await run(file)
    const verdict = verdictOfTests(execution)
    if (verdict.failed === 0) return settle(total, file, verdict, execution)
    failures.push({ file, execution })
    print(`FAILS   ${file}: ${await keepOutput(RESULTS, { file, execution })}; it may be run once more, after all others`)
  })
  const { attempts, unstable } = await tryAgain(failures, run)
  for (const { file, execution } of attempts) settle(total, file, verdictOfTests(execution), execution)
  for (const file of unstable) print(`UNSTABLE  ${file}: failed beside others and passed alone; see ${RESULTS}/`)
}

function settle(total: Score, title: string, { passed, failed, complaint, leftOut }: Verdict, execution: Execution): void {
  total.passed += passed
  total.failed += failed
  total.leftOut += leftOut?.count ?? 0
  if (leftOut) print(`LEFT OUT  ${leftOut.count} of ${title}: ${leftOut.why}`)
  const time = execution.ms > SLOW ? `, slow: ${(execution.ms / 1000).toFixed(0)} s` : ''
  if (failed === 0) {
    print(`ok      ${title} (${passed}${time})`)
    return
  }
  print(`FAILED  ${title} (${failed} of ${passed + failed}${time})${complaint ? `: ${complaint}` : ''}`)
  print(execution.output.trimEnd().replace(/^/gm, '        '))
}

async function inParallel<T>(things: T[], jobs: number, signal: AbortSignal, work: (thing: T) => Promise<void>): Promise<void> {
  const rest = things.values()
  const worker = async () => {
    for (const thing of rest) if (!signal.aborted) await work(thing)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
}

function print(line: string): void {
  console.log(line)
}

chdir(ROOT)
const abort = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => abort.abort())
const score = await main(process.argv[2] ?? '', abort.signal)
if (abort.signal.aborted) score.failed++
console.log(`${score.passed} passed, ${score.failed} failed${score.leftOut > 0 ? `, ${score.leftOut} left out` : ''}`)
process.exitCode = score.failed > 0 || score.passed === 0 ? 1 : 0
