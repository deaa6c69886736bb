import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  acquireTools,
  type LockOptions,
  lockTakenFolder,
  type ProgressReport,
  removeFolder,
  startControlPlane,
  statusOf,
  stopControlPlane,
} from '../../adapters/control-plane/index.ts'
import { connect } from '../../adapters/kube/index.ts'
import { Failure, systemClock } from '../../std/index.ts'
import { WIDTH } from '../output.ts'
import { reportTo } from '../report.ts'
import { OUTPUT_CLOSED, type Shell } from '../shell.ts'
import { findKubectl } from './cluster.ts'
import { forgetPorts, forPods, hasPorts, hasTakenPorts, portsIn } from './network.ts'
import { type NodeWish, nodeFor } from './node.ts'
import { assertAlone } from './others.ts'
import { endParts, isRunning, type LocalPart, partsOf } from './parts.ts'
import { runProgram } from './program.ts'
import { untilEstablished, untilPoliciesHold } from './readiness.ts'
import { environmentOf, type PreparedCluster, repositoriesIn, startInTurn } from './start-programs.ts'

/** The place of a local installation, and the programs that run in it. */
export interface Installation {
  dir: string
  kubeconfig: string
  kubectl: string
  /** The folder of bare repositories that the Git server serves. */
  repositories: string
  /** Of the Git server, for people on this machine. */
  gitUrl: string
  /** The same server for GitProjects: pods clone from there. */
  gitUrlForPods: string
  /** Pods run on a real node of the installation's own. */
  hasNode: boolean
  parts: LocalPart[]
  /** PEM file: the authority of kas. Nothing in a cluster that was there, where kas speaks plain text. */
  authority?: string | undefined
}

/** In a control plane of its own, pods go through their states, and no program runs in them; of other clusters nothing is known. */
export const hasSimulatedPods = ({ authority, hasNode }: Pick<Installation, 'authority' | 'hasNode'>): boolean =>
  authority !== undefined && !hasNode

export interface UpOptions {
  shell: Shell
  dir: string
  detached: boolean
  report: ProgressReport
  /** A cluster that is there: no control plane is started. */
  kubeconfig?: string | undefined
  /** Without it pods are simulated. */
  node?: NodeWish | undefined
  /** Look after this namespace only, whoever else looks after the rest of the cluster. */
  scope?: string | undefined
}

/** Brings up everything in the folder, in the order in which one needs the other. */
export async function bringUp(plan: UpOptions): Promise<Installation> {
  const { shell, dir } = plan
  const isFirst = !hasPorts(dir)
  try {
    return await bringUpOnce(plan)
  } catch (thrown) {
    if (!isFirst || shell.signal.aborted || !hasPorts(dir)) throw thrown
    await endAll(shell, dir)
    // Nothing names the ports of a new folder yet, and somebody was quicker to take one.
    if (!(await hasTakenPorts(dir))) throw thrown
    forgetPorts(dir)
    return bringUpOnce(plan)
  }
}

async function bringUpOnce(plan: UpOptions): Promise<Installation> {
  const cluster = await prepareCluster(plan)
  await install(plan, cluster)
  return startPrograms(plan, cluster)
}

/** A control plane of the folder's own, or the cluster that was named. */
export async function prepareCluster(plan: UpOptions): Promise<PreparedCluster> {
  const { shell, dir, detached, report, kubeconfig, scope } = plan
  // An earlier run may have been killed before it could tidy up.
  await endParts(dir)
  const { env, signal } = shell
  if (kubeconfig) {
    report.line(`Using the cluster of ${kubeconfig}.`)
    if (!scope) await assertAlone(resolve(shell.cwd, kubeconfig))
    const network = { hasNode: false, enter: [], ports: (await portsIn(dir, { hasApiServer: false })).listeners }
    return { kubeconfig: resolve(shell.cwd, kubeconfig), kubectl: await kubectlOf(plan), network }
  }
  const tools = await acquireTools({ env, report, signal })
  const node = await nodeFor(plan)
  // What is left of an earlier start may still listen on the folder's ports.
  await stopControlPlane(dir)
  const { apiServer: port, listeners: ports } = await portsIn(dir, { hasApiServer: true })
  const around = node && { node, ports: Object.values(ports), hasEgress: true }
  const plane = await startControlPlane({ dir, tools, port, ...around, detached, env: environmentOf(shell), signal })
  const { kubeconfig: admin, tls, enter } = plane
  return {
    kubeconfig: admin,
    kubectl: tools.paths.kubectl ?? 'kubectl',
    tls,
    network: { hasNode: node !== undefined, enter, ports },
  }
}

/** The one in the PATH; where there is none, the one that a control plane is made with. */
async function kubectlOf({ shell, report }: UpOptions): Promise<string> {
  try {
    return await findKubectl(shell)
  } catch {
    const { env, signal } = shell
    const tools = await acquireTools({ env, report, signal, wanted: ['kubectl'] })
    return tools.paths.kubectl ?? 'kubectl'
  }
}

/**
 * The folders that `install` applies: the kinds, policies and roles; then, when the kinds can be used, its first objects. In a control
 * plane of our own the programs may read every namespace, as if each had been onboarded: whoever has it is its administrator.
 */
export const foldersFor = ({ tls }: PreparedCluster) => ['.', ...(tls ? ['deploy/everywhere'] : []), 'deploy/defaults'] as const

/** Applies what `foldersFor` names, as the kubeconfig's user. */
export async function install({ shell }: Pick<UpOptions, 'shell'>, cluster: PreparedCluster): Promise<void> {
  const { kubeconfig, kubectl } = cluster
  const { env, signal } = shell
  const apply = (folder: string) => {
    const words = ['apply', '--server-side', '--force-conflicts', '-k', join(shell.home, folder)]
    return runProgram(kubectl, ['--kubeconfig', kubeconfig, ...words], { env, signal })
  }
  const [kinds, ...others] = foldersFor(cluster)
  const kube = connect({ kubeconfig })
  try {
    await apply(kinds)
    await untilEstablished(shell, kube)
    for (const folder of others) await apply(folder)
  } finally {
    await kube.close()
  }
}

/** The programs; meanwhile the API server takes up the policies. */
export async function startPrograms(plan: UpOptions, cluster: PreparedCluster): Promise<Installation> {
  const dir = realpathSync(plan.dir)
  const { kubeconfig, kubectl, tls, network } = cluster
  const work = [startInTurn({ ...plan, ...cluster, dir }), untilPoliciesHold(kubeconfig, plan.shell.signal)] as const
  try {
    const [parts] = await Promise.all(work)
    return { ...placeOf(dir, parts, network.hasNode), kubeconfig, kubectl, authority: tls?.authority }
  } finally {
    // A caller that ends what runs after a failure would miss what is still being started.
    await Promise.allSettled(work)
  }
}

const placeOf = (dir: string, parts: LocalPart[], hasNode: boolean) => {
  const gitUrl = parts.find(({ name }) => name === 'git-server')?.facts.url ?? ''
  return { dir, repositories: repositoriesIn(dir), gitUrl, gitUrlForPods: forPods({ hasNode }, gitUrl), hasNode, parts }
}

const PROGRAMS = ['git-server', 'kas', 'operator']

/** Finds what is up in a folder with a control plane of its own; if not all of it runs, the names of what has ended. */
export function foundIn(given: string): { installation?: Installation; ended: string[] } | undefined {
  const plane = statusOf(given)
  if (!plane) return undefined
  const dir = realpathSync(given)
  const parts = partsOf(dir)
  const ended = [...plane.dead, ...missingOf(parts, dir)]
  if (ended.length === plane.dead.length + PROGRAMS.length && !plane.running) return undefined
  if (ended.length > 0) return { ended }
  const { kubeconfig, authority, hasNode } = plane
  return { installation: { ...placeOf(dir, parts, hasNode), kubeconfig, authority, kubectl: 'kubectl' }, ended }
}

/** Says whose cluster it is that all programs in the folder serve, or that runs there. */
export function clusterIn(dir: string): 'own' | 'other' | undefined {
  if (statusOf(dir)?.running) return 'own'
  return missingOf(partsOf(dir), dir).length === 0 ? 'other' : undefined
}

const missingOf = (parts: readonly LocalPart[], dir: string): string[] =>
  PROGRAMS.filter((name) => !parts.some((part) => part.name === name && isRunning(dir, part)))

export function isUpAlready(dir: string): Failure {
  const whose = clusterIn(dir) === 'own' ? 'its own' : 'another'
  return new Failure('invalid', `--dir: Berth is up in ${dir} already, with ${whose} cluster`, {
    remedy: `Name another folder, or end it first with \`berth down --dir ${dir}\`.`,
  })
}

interface TakeDownOptions {
  /** The parts that this process has started: if another process has started anew since, that is left alone. */
  own?: readonly LocalPart[]
  /** Remove the folder, too. */
  remove?: boolean | undefined
  /** Ends the waiting for another process that is at work in the folder. */
  signal?: AbortSignal
}

/** Ends what runs in the folder, while nobody else starts or ends anything there. Answers whether anything ran. */
export async function takeDown(shell: Shell, dir: string, { own, remove, signal }: TakeDownOptions = {}): Promise<boolean> {
  const release = await lockTakenFolder(dir, waitingFor(dir, reportTo(shell, WIDTH), signal))
  if (!release) {
    if (remove) removeFolder(dir)
    return false
  }
  try {
    const isOurs = !own || partsOf(dir).some(({ pid }) => own.some((part) => part.pid === pid))
    const ran = isOurs && (await endAll(shell, dir))
    if (remove) removeFolder(dir)
    return ran
  } finally {
    release()
  }
}

/** Waits for the folder with a line that says who is at work there. */
export const waitingFor = (dir: string, report: ProgressReport, signal?: AbortSignal): LockOptions => ({
  clock: systemClock,
  waiting: (holder) => report.line(`Another process (${holder}) is at work in ${dir}: waiting for it.`),
  signal,
})

/** Ends the programs, then the control plane. Answers whether anything ran. */
export async function endAll({ say, signal }: Shell, dir: string): Promise<boolean> {
  const warning = isInterrupted(signal) ? ` A second Ctrl-C would end this at once, and leave ${dir} untidy.` : ''
  const cancel = systemClock.after(SAY_STOPPING_AFTER, () => say(`Stopping ...${warning}\n`))
  let ran = false
  try {
    ran = await endParts(dir)
  } finally {
    ran = (await stopControlPlane(dir)) || ran
    cancel()
  }
  return ran
}

const isInterrupted = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && !(reason instanceof Error && reason.message === OUTPUT_CLOSED)

/** Milliseconds after which it is said what a person waits for. */
const SAY_STOPPING_AFTER = 300
