/**
 * `npm test`: lint, types, generated files, then every test file in a process of its own, all against one real API server.
 * `npm test -- PART` runs only what has PART in its name. TEST_KUBECONFIG names a cluster to use, TEST_JOBS how many files
 * run at once. The last line is the result; the exit code is 0 only if something ran and nothing failed. What this machine lacks
 * something for is left out, and a line says so.
 */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { chdir } from 'node:process'
import { Failure, seconds } from '../src/std/index.ts'
import { type SharedCluster, sharedCluster } from './runner/cluster.ts'
import { type Command, type Execution, execute } from './runner/execute.ts'
import { type Verdict, verdictOfCheck, verdictOfTests } from './runner/verdict.ts'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')
const SLOW = seconds(10)

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
  const score: Score = { passed: 0, failed: 0, leftOut: 0 }
  const checks = CHECKS.filter(({ title }) => title.includes(pattern))
  const files = globSync('test/**/*.test.ts')
    .sort()
    .filter((file) => file.includes(pattern))

  // The control plane comes up while the checks run: both take a few seconds.
  const rising = files.length > 0 ? sharedCluster(print, signal) : undefined
  rising?.catch(() => undefined) // reported below
  await inParallel(checks, 1, signal, async (check) => settle(score, check.title, verdictOfCheck, await execute(check, signal)))

  const cluster = await rising?.catch((thrown: unknown) => noCluster(score, thrown))
  try {
    if (cluster) await runFiles(files, cluster, score, signal)
  } finally {
    await cluster?.remove()
  }
  return score
}

function noCluster(score: Score, thrown: unknown): undefined {
  const { message, remedy } = Failure.from(thrown)
  print(`FAILED  the control plane: ${message} ${remedy ?? ''}`)
  score.failed++
}

async function runFiles(files: string[], { kubeconfig }: SharedCluster, score: Score, signal: AbortSignal): Promise<void> {
  const jobs = Number(process.env.TEST_JOBS) || Math.min(3, Math.max(2, availableParallelism()))
  await inParallel(files, jobs, signal, async (file) => {
    const command = { title: file, program: process.execPath, parameters: [file], env: { TEST_KUBECONFIG: kubeconfig } }
    settle(score, file, verdictOfTests, await execute(command, signal))
  })
}

function settle(score: Score, title: string, judge: (execution: Execution) => Verdict, execution: Execution): void {
  const { passed, failed, complaint, leftOut } = judge(execution)
  score.passed += passed
  score.failed += failed
  score.leftOut += leftOut?.count ?? 0
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
const { passed, failed, leftOut } = await main(process.argv[2] ?? '', abort.signal)
const all = failed + (abort.signal.aborted ? 1 : 0)
console.log(`${passed} passed, ${all} failed${leftOut > 0 ? `, ${leftOut} left out` : ''}`)
process.exitCode = all > 0 || passed === 0 ? 1 : 0
