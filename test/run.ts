/**
 * `npm test`: lint, types and generated files, and beside them every test file, all against one real API server.
 *
 * `npm test -- PART…` runs what has one of the PARTs in its name.
 * `--times` prints at the end what took longest. `--hostile` delays some reads and writes of sockets by a moment; the seed
 * chooses which (`--seed N`). `--exhaustive` (`npm run test:exhaustive`) runs the files that take a sample of their cases, with all of
 * them, in pieces if wanted: `-- sweeps`, `-- races`, `-- fuzz`.
 *
 * `npm test -- e2e` runs what wants a real node, and makes its programs first; other runs have it where they are made already.
 *
 * TEST_KUBECONFIG names a cluster to use, TEST_JOBS how many processes run at once (five on two cores: many wait; two of them
 * for real nodes).
 * A file that fails is run once more, alone, after all others; if it then passes it counts, a line calls it UNSTABLE, and what it
 * printed first is kept in test-results/. The last line is the result; the exit code is 0 only if something ran and nothing failed.
 * What this machine lacks something for is left out, and a line says so.
 */
import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { chdir } from 'node:process'
import { parseArgs } from 'node:util'
import { Failure, seconds } from '../src/std/index.ts'
import { type Attempt, attempt, type Process } from './runner/attempt.ts'
import { type SharedCluster, sharedCluster } from './runner/cluster.ts'
import { type Command, type Execution, execute } from './runner/execute.ts'
import { onNodesOf, processesOf, sampling } from './runner/plan.ts'
import { keepOutput, tryAgain } from './runner/second-try.ts'
import { type Timed, timesTable } from './runner/times.ts'
import { type Verdict, verdictOfCheck, verdictOfTests } from './runner/verdict.ts'
import { inParallel } from './support/parallel.ts'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')
const SLOW = seconds(10)
const RESULTS = 'test-results'
const LONGEST_LINE = 2000
/** Servers of control planes, which are written in Go, spend a fifth of their time on thrift with memory otherwise. */
const GOGC = '800'
/** Many wait for something, so that two cores have room for five; of more cores the cluster's servers make no use. */
const JOBS = availableParallelism() > 1 ? 5 : 2
/** So many of them may be for files that start real nodes. */
const NODE_JOBS = availableParallelism() > 1 ? 2 : 1

const OPTIONS = {
  times: { type: 'boolean', default: false },
  hostile: { type: 'boolean', default: false },
  exhaustive: { type: 'boolean', default: false },
  seed: { type: 'string' },
} as const

const CHECKS: Command[] = [
  { title: 'types', program: join(BIN, 'tsc'), parameters: ['--noEmit'] },
  { title: 'lint', program: join(BIN, 'biome'), parameters: ['check', '--error-on-warnings', '.'] },
  { title: 'unused code (knip)', program: join(BIN, 'knip'), parameters: ['--no-progress'] },
  { title: 'generated files (verify)', program: process.execPath, parameters: ['hack/verify-all.ts'] },
]

interface Order {
  parts: string[]
  wantsTimes: boolean
  isHostile: boolean
  isExhaustive: boolean
  seed: number
}

interface Score {
  passed: number
  failed: number
  leftOut: number
  times: Timed[]
}

async function main(order: Order, signal: AbortSignal): Promise<Score> {
  const total: Score = { passed: 0, failed: 0, leftOut: 0, times: [] }
  const isAsked = (name: string) => order.parts.length === 0 || order.parts.some((part) => name.includes(part))
  const checks = CHECKS.filter(({ title }) => !order.isExhaustive && isAsked(title))
  const named = globSync('test/**/*.test.ts').sort().filter(isAsked)
  const files = order.isExhaustive ? sampling(named) : named

  // The control plane comes up while the checks run: both take a few seconds.
  const images = await mkdtemp(join(tmpdir(), 'berth-images-'))
  const rising = files.length > 0 ? sharedCluster(print, signal).catch((thrown: unknown) => noCluster(total, thrown)) : undefined
  const work = checks.map((check) => async () => {
    const execution = await execute(check, signal)
    settle(total, check.title, verdictOfCheck(execution), execution)
  })
  try {
    await runAll(work, files, async () => processOf(order, await rising, images), total, signal)
  } finally {
    await (await rising)?.remove()
    await rm(images, { recursive: true, force: true })
  }
  return total
}

function processOf(
  { isHostile, isExhaustive, seed, parts }: Order,
  cluster: SharedCluster | undefined,
  images: string,
): Process | undefined {
  return (
    cluster && {
      env: {
        ...cluster.env,
        TEST_SEED: String(seed),
        TEST_EXHAUSTIVE: isExhaustive ? 'true' : undefined,
        TEST_IMAGES: images,
        // The programs of a node take minutes to make, so that only who names the tests with one waits for it.
        TEST_NODE: parts.some((part) => part.includes('e2e')) ? 'make' : undefined,
        // The modules that most files load are compiled once a run.
        NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
      },
      preload: isHostile ? [join(ROOT, 'test/runner/hostile.ts')] : [],
    }
  )
}

function noCluster(total: Score, thrown: unknown): undefined {
  const { message, remedy } = Failure.from(thrown)
  print(`FAILED  the control plane: ${message} ${remedy ?? ''}`)
  total.failed++
}

/** The checks and the files beside one another, then the files that failed, each alone. Without a process to run in no file is. */
async function runAll(
  checks: (() => Promise<void>)[],
  files: string[],
  how: () => Promise<Process | undefined>,
  total: Score,
  signal: AbortSignal,
): Promise<void> {
  const failures: Attempt[] = []
  const note = async ({ file, execution }: Attempt) => {
    const verdict = verdictOfTests(execution)
    if (verdict.failed === 0) return settle(total, file, verdict, execution)
    failures.push({ file, execution })
    print(`FAILS   ${file}: ${await keepOutput(RESULTS, { file, execution })}; it may be run once more, after all others:`)
    print(excerpt(execution))
  }
  const run = async (group: string[]) => {
    const process = await how()
    return process ? attempt(group, process, signal) : []
  }
  const testing = (group: string[]) => async () => {
    for (const each of await run(group)) await note(each)
  }
  const work = (list: (() => Promise<void>)[], atOnce: number) =>
    inParallel(list, atOnce, async (each) => {
      if (!signal.aborted) await each()
    })
  const onNodes = onNodesOf(files)
  const jobs = Number(process.env.TEST_JOBS) || JOBS
  const nodeJobs = Math.min(NODE_JOBS, onNodes.length)
  await Promise.all([
    work([...checks, ...processesOf(files).map(testing)], Math.max(1, jobs - nodeJobs)),
    work(
      onNodes.map((file) => testing([file])),
      nodeJobs,
    ),
  ])

  const { attempts, unstable } = await tryAgain(failures, async (file) => (await run([file]))[0]?.execution)
  for (const { file, execution } of attempts) settle(total, file, verdictOfTests(execution), execution)
  for (const file of unstable) print(`UNSTABLE  ${file}: failed beside others and passed alone; see ${RESULTS}/`)
}

function settle(total: Score, title: string, { passed, failed, complaint, leftOut }: Verdict, execution: Execution): void {
  total.passed += passed
  total.failed += failed
  total.leftOut += leftOut?.count ?? 0
  total.times.push({ title, ms: execution.ms, cpuMs: execution.cpuMs })
  if (leftOut) print(`LEFT OUT  ${leftOut.count} of ${title}: ${leftOut.why}`)
  const time = execution.ms > SLOW ? `, slow: ${(execution.ms / 1000).toFixed(0)} s` : ''
  if (failed === 0) {
    print(`ok      ${title} (${passed}${time})`)
    return
  }
  print(`FAILED  ${title} (${failed} of ${passed + failed}${time})${complaint ? `: ${complaint}` : ''}`)
  print(excerpt(execution))
}

/** What it printed, indented. A line of JSON would hide all others; in RESULTS it is whole. */
function excerpt({ output }: Execution): string {
  const cut = (line: string) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)} …` : line)
  return output
    .trimEnd()
    .split('\n')
    .map((line) => `        ${cut(line)}`)
    .join('\n')
}

function print(line: string): void {
  console.log(line)
}

function orderFrom(args: string[]): Order {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
  const { times, hostile, exhaustive } = values
  const seed = Number(values.seed ?? randomInt(1_000_000))
  if (!Number.isSafeInteger(seed)) throw new Failure('invalid', `--seed is ${values.seed}; give a whole number`)
  return { parts: positionals, wantsTimes: times, isHostile: hostile, isExhaustive: exhaustive, seed }
}

/** What was asked for; whoever asks for what there is not is told in a line. */
function orderAsked(): Order {
  try {
    return orderFrom(process.argv.slice(2))
  } catch (thrown) {
    console.error(Failure.from(thrown).message)
    return process.exit(2)
  }
}

const asked = orderAsked()
chdir(ROOT)
process.env.GOGC ??= GOGC
const abort = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => abort.abort())
print(`Samples and delays depend on the seed: --seed ${asked.seed}`)
const score = await main(asked, abort.signal)
if (abort.signal.aborted) score.failed++
if (asked.wantsTimes) print(timesTable(score.times))
print(`${score.passed} passed, ${score.failed} failed${score.leftOut > 0 ? `, ${score.leftOut} left out` : ''}`)
process.exitCode = score.failed > 0 || score.passed === 0 ? 1 : 0
