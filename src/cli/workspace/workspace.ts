import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type Ref, refOf, type Workspace, Workspaces } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import type { ExitCode } from '../exit-codes.ts'
import { likely } from '../hint.ts'
import { type ClusterOptions, wholeNumber, withKube, withKubeconfig } from '../options.ts'
import type { Shell } from '../shell.ts'

export { workspaceStateOf as stateOf, workspaceWishOf as desiredOf } from '../../api/index.ts'

export interface WorkspaceOptions extends ClusterOptions {
  namespace: string
}

/** For verbs about one Workspace. */
export const withWorkspace = (command: Command): Command =>
  withKubeconfig(command).argument('<name>', 'name of the Workspace').option('-n, --namespace <name>', 'its namespace', 'default')

export interface WatchOptions extends WorkspaceOptions {
  watch?: boolean
  /** Seconds. */
  timeout: number
}

/** For verbs whose work takes its time, after their own options. */
export const withWatch = (command: Command): Command =>
  command
    .option('-w, --watch', 'show each step with its time, until it is done; fails when it fails')
    .option('--timeout <seconds>', 'how long to watch', wholeNumber, 600)

/** What a verb works with. */
export interface AtHand {
  shell: Shell
  kube: Kube
  workspace: Workspace
}

export const withWorkspaceAtHand = (
  shell: Shell,
  name: string,
  options: WorkspaceOptions,
  work: (at: AtHand) => Promise<ExitCode>,
): Promise<ExitCode> =>
  withKube(shell, options, async (kube) =>
    work({ shell, kube, workspace: await find(kube, { name, namespace: options.namespace }) }),
  )

async function find(kube: Kube, ref: Ref): Promise<Workspace> {
  const found = await kube.get(Workspaces, ref)
  if (found) return found
  throw new Failure('not-found', `there is no Workspace ${ref.name} in namespace ${ref.namespace}.`, {
    remedy: likely(ref, await listed(kube, ref), '`berth get -A`'),
  })
}

/** All that the person may list: of the cluster, else of the namespace. */
async function listed(kube: Kube, { namespace }: Ref): Promise<Ref[]> {
  for (const query of [{}, { namespace }]) {
    try {
      return (await kube.list(Workspaces, { ...query, metadataOnly: true })).map(refOf)
    } catch (failure) {
      if (!isFailure(failure, 'forbidden')) throw failure
    }
  }
  return []
}

/** As people say and type it: `Workspace team-a/web`. */
export const titleOf = ({ metadata: { namespace, name } }: Workspace): string => `Workspace ${namespace}/${name}`

/** Another verb about the same workspace, to be copied. */
export const berth = (verb: string, { metadata: { namespace, name } }: Workspace): string =>
  `berth ${verb} ${name}${namespace === 'default' ? '' : ` -n ${namespace}`}`
