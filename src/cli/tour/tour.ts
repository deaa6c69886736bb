import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Option } from 'commander'
import { removeFolder } from '../../adapters/control-plane/index.ts'
import { connect } from '../../adapters/kube/index.ts'
import { Failure, systemClock } from '../../std/index.ts'
import { checkCluster, clusterAtHand } from '../local/cluster.ts'
import { watchParts } from '../local/guard.ts'
import {
  clusterIn,
  foldersFor,
  type Installation,
  install,
  isUpAlready,
  prepareCluster,
  startPrograms,
  takeDown,
  type UpOptions,
} from '../local/installation.ts'
import { runProgram } from '../local/program.ts'
import { clearAfter, startAlone, tidyUp } from '../local/start.ts'
import { dirOf, folderName, positiveSeconds } from '../options.ts'
import { WIDTH, wrap } from '../output.ts'
import { reportTo } from '../report.ts'
import type { Shell } from '../shell.ts'
import { ended } from '../signals.ts'
import { actionVerb } from '../verb.ts'
import { type StepResult, TEAM, tourContext } from './context.ts'
import { stepsOf, tourFiles } from './steps.ts'

interface Options {
  dir?: string
  exit?: boolean
  kubeconfig?: string
  node?: boolean
  timeout: number
}

export const verb = actionVerb({
  description:
    'Show everything once: a control plane, Berth on it, a claim, a push, a workspace, another push, an environment for a branch. Then it stays until Ctrl-C and leaves nothing behind.',
  examples: [
    ['berth tour', 'stay and look around'],
    ['berth tour --exit', 'as a check: exit code 0 when all went well'],
  ],
  options: (command) =>
    command
      .option('--exit', 'end after the last step')
      .option('--dir <folder>', 'work in this folder and keep it (default: a temporary one)', folderName)
      .option(
        '--kubeconfig <file>',
        'use this cluster (default: that of $KUBECONFIG when it is on this machine); what the tour makes there is removed at the end',
      )
      .addOption(
        new Option('--node', 'run its pods on a real node, also where the programs of one have to be made first').conflicts(
          'kubeconfig',
        ),
      )
      .option('--no-node', 'simulate its pods (default: a real node where its programs are in the cache)')
      .option('--timeout <seconds>', 'how long each step may take', positiveSeconds, 60),
  run: tour,
})

async function tour(shell: Shell, options: Options): Promise<void> {
  const report = reportTo(shell, WIDTH)
  const given = options.dir && dirOf(shell, { dir: options.dir })
  if (options.kubeconfig) await reach(shell, options.kubeconfig)
  const kubeconfig = options.kubeconfig ?? (options.node ? undefined : await clusterAtHand(shell, report))
  const dir = given ?? realpathSync(mkdtempSync(join(tmpdir(), 'berth-tour-')))
  const plan: UpOptions = { shell, dir, detached: false, report, kubeconfig, node: nodeIn(options), scope: kubeconfig && TEAM }
  const began = systemClock.now()
  const made = given ? [] : [dir]
  const installation = await startAlone(plan, { made, find: () => refuseRunning(dir), start: () => start(plan) })
  const tourRun: TourRun = { plan, options, installation, began }
  try {
    await watchParts(shell, installation, (watched) => perform(watched, tourRun))
  } catch (thrown) {
    await tidyUp(shell, async () => {
      await end(tourRun)
      clearAfter(thrown, shell, made)
    })
    throw thrown
  }
  await end(tourRun)
  if (!given) removeFolder(dir)
}

/** Nobody waits for minutes who has not asked for it. */
const nodeIn = ({ node }: Options): UpOptions['node'] => (node ? 'if-possible' : node === undefined ? 'if-cached' : undefined)

/** Before anything is touched. */
const reach = (shell: Shell, kubeconfig: string): Promise<void> =>
  timed(shell, 'reach the cluster', `kubectl --kubeconfig ${kubeconfig} get crds`, async () => ({
    value: await checkCluster(resolve(shell.cwd, kubeconfig), shell.signal),
    seen: kubeconfig,
  }))

/** The tour would start everything there anew. */
function refuseRunning(dir: string): undefined {
  if (clusterIn(dir)) throw isUpAlready(dir)
}

interface TourRun {
  plan: UpOptions
  options: Options
  began: number
  installation: Installation
}

async function start(plan: UpOptions): Promise<Installation> {
  const { shell, dir, kubeconfig } = plan
  const flag = kubeconfig ? ` --kubeconfig ${kubeconfig}` : ''
  const cluster = await timed(shell, 'bring up a control plane', `berth up --dir ${dir}${flag}`, async () => {
    const found = await prepareCluster(plan)
    const { kubeconfig: file, network } = found
    if (!network.hasNode) return { value: found, seen: file }
    return { value: found, seen: { text: `with a real node, ${file}`, command: `berth up --dir ${dir} --node` } }
  })
  await timed(
    shell,
    'install kinds, policies, roles',
    foldersFor(cluster)
      .map((folder) => `kubectl apply --server-side --force-conflicts -k ${folder}`)
      .join(' && '),
    async () => ({
      value: await install(plan, cluster),
      seen: 'the kinds are established',
    }),
  )
  return timed(
    shell,
    'start operator, kas, Git server',
    `berth git-server --repositories ${join(dir, 'repositories')} & berth kas & berth operator &`,
    async () => {
      const started = await startPrograms(plan, cluster)
      return { value: started, seen: started.parts.map(({ name, pid }) => `${name} ${pid}`).join(', ') }
    },
  )
}

/** The steps, and then, unless it is to end, the time in which a person looks around. */
async function perform(shell: Shell, { options, plan, installation, began }: TourRun): Promise<void> {
  const kube = connect({ kubeconfig: installation.kubeconfig })
  try {
    const workingCopy = join(installation.dir, 'work', 'shop')
    const context = tourContext({ shell, installation, kube, workingCopy, patience: options.timeout })
    for (const { title, command, run } of stepsOf(installation)) {
      await timed(shell, title, command, async () => ({ value: undefined, seen: await run(context) }))
    }
  } finally {
    await kube.close()
  }
  shell.print(`The tour took ${secondsSince(began)} s.`)
  if (options.exit) return
  shell.print(howToUse(installation, plan))
  await ended(shell.signal)
}

/** For each step its time, what it made true and what is to be seen; below that what a person would have typed. */
async function timed<T>(
  shell: Shell,
  title: string,
  command: string,
  work: () => Promise<{ value: T; seen: string | StepResult }>,
): Promise<T> {
  const { paint, print } = shell
  const began = systemClock.now()
  const tell = (mark: string, text: string, typed: string) => {
    const lines = [...wrap(text, WIDTH - INDENT.length), paint('dim', `$ ${typed}`)]
    print(`${mark} ${secondsSince(began).padStart(5)} s  ${lines.join(`\n${INDENT}`)}`)
  }
  try {
    const { value, seen } = await work()
    const { text, command: typed } = typeof seen === 'string' ? { text: seen, command } : seen
    tell(paint('green', 'ok  '), `${title}: ${text}`, typed)
    return value
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code === 'cancelled' || shell.signal.aborted) throw new Failure('cancelled', `interrupted at the step "${title}"`)
    tell(paint('red', 'FAIL'), title, command)
    throw new Failure(failure.code, `the step "${title}" failed: ${failure.message}`, {
      ...(failure.remedy && { remedy: failure.remedy }),
      cause: failure,
    })
  }
}

/** As wide as the mark and the time. */
const INDENT = ' '.repeat(14)

const secondsSince = (began: number): string => ((systemClock.now() - began) / 1000).toFixed(1)

function howToUse(installation: Installation, plan: UpOptions): string {
  const { kubeconfig, dir, gitUrl } = installation
  return [
    '',
    'It stays up. In another terminal:',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get berth -A                # everything that the tour made',
    `  cd ${dir}/work/shop   # change something, commit, then`,
    `  git push ${gitUrl}/shop.git main`,
    `  logs: ${dir}/logs`,
    plan.kubeconfig ? 'Ctrl-C ends the programs and removes what the tour made.' : 'Ctrl-C ends it and leaves nothing behind.',
  ].join('\n')
}

/** A cluster of our own goes as a whole; in another one's, what the tour made goes while the operator can still clean up. */
async function end({ plan, options, installation }: TourRun): Promise<void> {
  const { dir, shell } = plan
  if (plan.kubeconfig) {
    // Without a signal: the first Ctrl-C has aborted the shell's already, and tidying up must not be cut off by it.
    const files = tourFiles(shell.home).flatMap((file) => ['-f', file])
    const { kubectl, kubeconfig } = installation
    const words = ['--kubeconfig', kubeconfig, 'delete', '--ignore-not-found', `--timeout=${options.timeout}s`, ...files]
    await runProgram(kubectl, words, { env: shell.env, cwd: shell.home }).catch((thrown: unknown) => {
      shell.say(`berth: what the tour made is not all gone: ${Failure.from(thrown).message}\n`)
    })
  }
  await takeDown(shell, dir, { own: installation.parts })
}
