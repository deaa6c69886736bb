import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { nameOf, type Workspace, Workspaces, workspaceWishOf } from '../../api/index.ts'
import { durationOf, Failure } from '../../std/index.ts'
import { findObject, type ObjectOptions, withObject } from '../find-object.ts'
import { wholeNumber, withKube } from '../options.ts'
import type { Shell } from '../shell.ts'

export const withWorkspace = (command: Command): Command => withObject(command, Workspaces)

export interface WatchOptions extends ObjectOptions {
  watch?: boolean
  /** Seconds. */
  timeout: number
  /** Of a start. */
  stay?: number
}

/** For verbs whose work takes its time, after their own options. */
export const withWatch = (command: Command): Command =>
  command
    .option('-w, --watch', 'show each step with its time, until it is done; fails when it fails')
    .option('--timeout <seconds>', 'how long to watch', wholeNumber, 600)

/** What runs can end at once, which nobody knows who has only seen it begin. */
export const withStay = (command: Command): Command =>
  withWatch(command).option('--stay <seconds>', 'with --watch: how long it has to stay Running once it is', wholeNumber, 10)

export interface WorkspaceContext {
  shell: Shell
  kube: Kube
  workspace: Workspace
}

/** Does the work of a verb about one Workspace, with the person's own rights. */
export const onWorkspace =
  <Options extends ObjectOptions, Result>(work: (context: WorkspaceContext, options: Options) => Promise<Result>) =>
  (shell: Shell, name: string, options: Options): Promise<Result> =>
    withKube(shell, options, async (kube) => {
      const workspace = await findObject(kube, Workspaces, { name, namespace: options.namespace }, '`berth get -A`')
      return work({ shell, kube, workspace }, options)
    })

/** Another verb about the same workspace, to be copied. */
export const commandFor = (verb: string, { metadata: { namespace, name } }: Workspace): string =>
  `berth ${verb} ${name} -n ${namespace}`

/** Throws `conflict` for one that is over. */
export function refuseTerminated(workspace: Workspace): void {
  if (workspaceWishOf(workspace) !== 'Terminated') return
  throw new Failure('conflict', `${nameOf(workspace)} is terminated, and its files are gone.`, {
    remedy: 'Delete it with `berth delete`, and make another with `berth create`.',
  })
}

/** The milliseconds that a flag names; `example` is how it may be written. */
export function lengthOfTime(flag: string, text: string, example: string): number {
  const length = /^(\d{1,6}[smh]){1,3}$/.test(text) ? durationOf(text) : 0
  if (length > 0) return length
  throw new Failure('invalid', `${flag} is "${text}", which is no length of time.`, { remedy: `Write it like ${example}.` })
}
