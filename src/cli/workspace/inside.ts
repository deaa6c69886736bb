import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kube } from '../../adapters/kube/index.ts'
import { isDeleting, nameOf, type Pod, type Workspace, workspaceStateOf, workspaceWishOf } from '../../api/index.ts'
import {
  firstContainerOf,
  isMainPod,
  isOfSimulatedNode,
  linesOfLog,
  type TargetLogin,
  withTarget,
  youngestPodOf,
} from '../../engines/lookout/index.ts'
import { Failure } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type ClusterOptions, kubeconfigOf } from '../options.ts'
import type { Shell } from '../shell.ts'
import { which } from '../which.ts'
import { commandFor, onWorkspace, refuseTerminated, type WorkspaceContext } from './workspace.ts'

interface InsideOptions extends ObjectOptions {
  container?: string
}

interface Inside extends WorkspaceContext {
  pod: string
  container: string
  /** Runs kubectl in the namespace of the pod, at the person's terminal; gives its exit code. */
  kubectl(...parameters: string[]): Promise<number>
}

const NAME_KUBECTL = 'Install it, or name its file in BERTH_KUBECTL.'

/** Does the work of a verb in a container of a workspace that runs, with the person's own rights. */
export const insideWorkspace = <Options extends InsideOptions>(work: (inside: Inside, options: Options) => Promise<number>) =>
  onWorkspace((context, options: Options) => {
    const { shell, kube, workspace } = context
    refuseStopped(workspace)
    const program = shell.env.BERTH_KUBECTL || which('kubectl', shell.env.PATH, shell.cwd, NAME_KUBECTL)
    return withTarget(kube, workspace, { reach: undefined }, async (target, home, login) => {
      const found = await findContainer(workspace, { target, home }, options.container)
      return withKubeconfigFor(shell, login, options, (flags) => {
        const kubectl = async (...parameters: string[]) => {
          const code = await shell.handOver(program, [...flags, '-n', home, ...parameters])
          if (code === KUBECTL_FAILED) await explainSimulated(shell, { target, home, ...found })
          return code
        }
        return work({ ...context, ...found, kubectl }, options)
      })
    })
  })

/** As many a command does. */
const KUBECTL_FAILED = 1

/** kubectl only says that the node has no address. */
async function explainSimulated(shell: Shell, from: Parameters<typeof linesOfLog>[0]): Promise<void> {
  const stop = new AbortController()
  await linesOfLog(from, 'tailLines=0', stop.signal).catch((thrown: unknown) => {
    // Whatever else there is to say, kubectl has said it.
    if (isOfSimulatedNode(thrown))
      shell.say(
        `Pod ${from.pod} is on a simulated node (kwok),\nwhere nothing runs: nobody gets in. \`berth up --node\` has a real one.\n`,
      )
  })
  stop.abort()
}

/** Throws `conflict` for one that nobody gets into before somebody starts it. */
export function refuseStopped(workspace: Workspace): void {
  refuseTerminated(workspace)
  if (workspaceWishOf(workspace) !== 'Stopped') return
  throw new Failure('conflict', `${nameOf(workspace)} is stopped, or about to be.`, {
    remedy: `Start it with \`${commandFor('start', workspace)} --watch\`.`,
  })
}

/** The container of that name in any pod, or the first one of the pod that has most of them. */
export async function findContainer(
  workspace: Workspace,
  place: { target: Kube; home: string },
  wanted: string | undefined,
): Promise<{ pod: string; container: string }> {
  const names = new Set<string>()
  const pod = await youngestPodOf(workspace, place, undefined, (each) => {
    if (isDeleting(each)) return false
    const inIt = containersIn(each)
    for (const name of inIt) names.add(name)
    return wanted === undefined ? isMainPod(each) : inIt.includes(wanted)
  })
  const container = wanted ?? (pod && firstContainerOf(pod))
  if (pod && container !== undefined) return { pod: pod.metadata.name, container }
  const title = nameOf(workspace)
  if (wanted !== undefined && names.size > 0)
    throw new Failure('not-found', `there is no container ${wanted} in ${title}.`, {
      remedy: `There is ${[...names].join(', ')}.`,
    })
  throw new Failure('not-found', `${title} is ${workspaceStateOf(workspace)} and has no pod yet.`, {
    remedy: `See with \`${commandFor('describe', workspace)}\` why.`,
  })
}

const containersIn = ({ spec }: Pod): string[] => (spec?.containers ?? []).map(({ name }) => name)

/** What tells kubectl as whom to ask which server: the person's own kubeconfig, or one with what a target's Secret has. */
async function withKubeconfigFor<T>(
  shell: Shell,
  login: TargetLogin | undefined,
  options: ClusterOptions,
  work: (flags: string[]) => Promise<T>,
): Promise<T> {
  if (!login) {
    const file = kubeconfigOf(shell, options)
    return work([
      ...(file === undefined ? [] : ['--kubeconfig', file]),
      ...(options.context ? ['--context', options.context] : []),
    ])
  }
  const folder = await mkdtemp(join(tmpdir(), 'berth-kubeconfig-'))
  try {
    const file = join(folder, 'kubeconfig')
    await writeFile(file, kubeconfigWith(login), { mode: 0o600 })
    return await work(['--kubeconfig', file])
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Of what the Secret holds no more than the client uses itself: kubectl would start the programs that a kubeconfig names. */
const kubeconfigWith = ({ server, ca, token, insecure }: TargetLogin): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'target',
        cluster: { server, ...(insecure ? { 'insecure-skip-tls-verify': true } : ca && { 'certificate-authority-data': ca }) },
      },
    ],
    users: [{ name: 'target', user: { token: token.reveal() } }],
    contexts: [{ name: 'target', context: { cluster: 'target', user: 'target' } }],
    'current-context': 'target',
  })
