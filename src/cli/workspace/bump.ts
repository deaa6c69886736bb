import { nameOf, refOf, Workspaces, workspaceKeptUntil, workspaceWishOf } from '../../api/index.ts'
import { Failure, spelled, systemClock, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { actionVerb } from '../verb.ts'
import { until } from './time.ts'
import { commandFor, lengthOfTime, onWorkspace, refuseTerminated, type WorkspaceContext, withWorkspace } from './workspace.ts'

interface Options extends ObjectOptions {
  by: string
}

export const verb = actionVerb({
  description:
    "Give a running workspace more time before it is stopped by itself: for idleness, by its schedule, or by its class's time limit. At most as long from now as that limit is.",
  examples: [
    ['berth bump web -n team-a', 'one hour more'],
    ['berth bump web -n team-a --by 3h30m', 'a long evening'],
  ],
  options: (command) => withWorkspace(command).option('--by <duration>', 'how much later it is stopped', '1h'),
  run: onWorkspace(bump),
})

async function bump({ shell, kube, workspace }: WorkspaceContext, { by }: Options): Promise<void> {
  refuseTerminated(workspace)
  const length = lengthOfTime('--by', by, '1h or 90m')
  if (workspaceWishOf(workspace) === 'Stopped')
    throw new Failure('conflict', `${nameOf(workspace)} is stopped, so there is nothing to give time to.`, {
      remedy: `Start it with \`${commandFor('start', workspace)}\`.`,
    })
  const now = systemClock.now()
  const { willStopAt, willStopReason } = workspace.status ?? {}
  const kept = workspaceKeptUntil(workspace, length, now)
  const keepUntil = timestamp(kept.until)
  await kube.patch(Workspaces, refOf(workspace), { metadata: { uid: workspace.metadata.uid }, spec: { keepUntil } })
  const isLater = willStopAt !== undefined && keepUntil > willStopAt
  const before = isLater ? `, not at ${willStopAt} (${willStopReason})` : ''
  shell.print(`${nameOf(workspace)} is not stopped before ${keepUntil} (${until(keepUntil, now)})${before}.`)
  if (kept.until === kept.most)
    shell.say(`You asked for more; its class allows no more than ${spelled(kept.most - now)} from now.\n`)
}
