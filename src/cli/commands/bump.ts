import type { Command } from 'commander'
import { refOf, type WorkspaceClassSpec, Workspaces } from '../../api/index.ts'
import { durationOf, Failure, hours, systemClock, timestamp } from '../../std/index.ts'
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
  const keepUntil = timestamp(Math.max(willStopAt ? Date.parse(willStopAt) : now, now) + durationOf(by))
  await kube.patch(Workspaces, refOf(workspace), { metadata: { uid: workspace.metadata.uid }, spec: { keepUntil } })
  const before = willStopAt ? `, not at ${willStopAt} (${willStopReason})` : ''
  shell.print(`${titleOf(workspace)} is not stopped before ${keepUntil} (${until(keepUntil, now)})${before}.`)
  const settings: WorkspaceClassSpec = workspace.status?.class?.settings ?? {}
  const most = hours(settings.maxActiveHoursBeforeStop ?? 36)
  if (Date.parse(keepUntil) - now > most)
    shell.say(
      `Its class allows no more than ${spelled(most)} from now; \`${berth('get', workspace)}\` shows what became of it.\n`,
    )
  return exitCodes.ok
}
