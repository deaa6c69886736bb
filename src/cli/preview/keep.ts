import { FOREVER, keepMarks, nameOf } from '../../api/index.ts'
import { systemClock, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { actionVerb } from '../verb.ts'
import { until } from '../workspace/time.ts'
import { lengthOfTime } from '../workspace/workspace.ts'
import { type BranchContext, commandFor, mark, onBranch, titleOf, withBranch } from './branch.ts'

interface Options extends ObjectOptions {
  for?: string
}

export const keep = actionVerb({
  description:
    'Let the environment of a branch not expire, whatever spec.timeToLive of its Preview says: for some time, or as long as there is the branch.',
  examples: [
    ['berth preview keep shop feature/cart -n team-a', 'as long as its branch'],
    ['berth preview keep shop feature/cart --for 72h', 'three days from now'],
  ],
  options: (command) =>
    withBranch(command).option('--for <duration>', 'how long from now on (default: as long as there is the branch)'),
  run: onBranch(keepEnvironment),
})

async function keepEnvironment(context: BranchContext, options: Options): Promise<void> {
  const { shell, preview } = context
  const now = systemClock.now()
  const end = options.for === undefined ? FOREVER : timestamp(now + lengthOfTime('--for', options.for, '72h or 90m'))
  await mark(context, keepMarks(end))
  const how =
    end === FOREVER
      ? 'does not expire: it goes with its branch, and is the last to go for lack of room'
      : `does not expire before ${end} (${until(end, now)})`
  shell.print(`${titleOf(context)} ${how}.`)
  if (preview.spec.timeToLive === undefined) shell.say(`It would not have anyway: ${nameOf(preview)} has no spec.timeToLive.\n`)
  shell.say(`End it with \`${commandFor('delete', context)}\`.\n`)
}
