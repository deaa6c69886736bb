import type { Command } from 'commander'
import { refOf, Workspaces, workspaceKeptUntil } from '../../api/index.ts'
import { durationOf, Failure, systemClock, timestamp } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { spelled, until } from '../workspace/time.ts'
import { refuseTerminated } from '../workspace/wish.ts'
import {
  type AtHand,
  berth,
  desiredOf,
  titleOf,
  type WorkspaceOptions,
  withWorkspace,
  withWorkspaceAtHand,
} from '../workspace/workspace.ts'

interface Options extends WorkspaceOptions {
  by: string
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWorkspace(command)
      .description(
        "Give a running workspace more time before it is stopped by itself: for idleness, by its schedule, or by its class's time limit. At most as long from now as that limit is.",
      )
      .option('--by <duration>', 'how much later it is stopped', '1h')
      .addHelpText(
        'after',
        examples(['berth bump web -n team-a', 'one hour more'], ['berth bump web -n team-a --by 3h30m', 'a long evening']),
      )
      .action(finish((name: string, options: Options) => withWorkspaceAtHand(shell, name, options, (at) => bump(at, options))))
  },
}

async function bump(at: AtHand, { by }: Options): Promise<ExitCode> {
  const { shell, kube, workspace } = at
  refuseTerminated(at)
  if (!/^(\d+[smh])+$/.test(by) || durationOf(by) === 0)
    throw new Failure('invalid', `--by is "${by}", which is no length of time.`, { remedy: 'Write it like 1h or 90m.' })
  if (desiredOf(workspace) === 'Stopped')
    throw new Failure('conflict', `${titleOf(workspace)} is stopped, so there is nothing to give time to.`, {
      remedy: `Start it with \`${berth('start', workspace)}\`.`,
    })
  const now = systemClock.now()
  const { willStopAt, willStopReason } = workspace.status ?? {}
  const kept = workspaceKeptUntil(workspace, durationOf(by), now)
  const keepUntil = timestamp(kept.until)
  await kube.patch(Workspaces, refOf(workspace), { metadata: { uid: workspace.metadata.uid }, spec: { keepUntil } })
  const isLater = willStopAt !== undefined && keepUntil > willStopAt
  const before = isLater ? `, not at ${willStopAt} (${willStopReason})` : ''
  shell.print(`${titleOf(workspace)} is not stopped before ${keepUntil} (${until(keepUntil, now)})${before}.`)
  if (kept.until === kept.most)
    shell.say(`You asked for more; its class allows no more than ${spelled(kept.most - now)} from now.\n`)
  return exitCodes.ok
}
