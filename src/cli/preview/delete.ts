import { conditionOf, endMarks, nameOf, type Preview, Previews, refOf } from '../../api/index.ts'
import { Failure, harmlessLine, seconds } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { follow } from '../follow.ts'
import { wholeNumber } from '../options.ts'
import { actionVerb } from '../verb.ts'
import { AT_WORK, type BranchContext, commandFor, mark, onBranch, shortCommit, titleOf, withBranch } from './branch.ts'

interface Options extends ObjectOptions {
  wait?: boolean
  /** Seconds. */
  timeout: number
}

export const deletion = actionVerb({
  description:
    'End the environment of a branch at the commit that it has, with all that is in it. The branch stays, and the next push to it makes a new environment.',
  examples: [
    ['berth preview delete shop feature/cart -n team-a', 'make room for another'],
    ['berth preview delete shop feature/cart --wait', 'until it is gone'],
  ],
  options: (command) =>
    withBranch(command)
      .option('--wait', 'until the Preview does not list it any more')
      .option('--timeout <seconds>', 'how long to wait', wholeNumber, 300),
  run: onBranch(endEnvironment),
})

async function endEnvironment(context: BranchContext, { wait, timeout }: Options): Promise<void> {
  const { shell, preview, entry } = context
  await mark(context, endMarks(preview, entry.commit))
  const ready = conditionOf(preview.status?.conditions, 'Ready')
  // The mark stays, and counts when that is mended.
  if (ready && !AT_WORK.includes(ready.reason))
    shell.say(`${nameOf(preview)} removes nothing for now: ${harmlessLine(`${ready.reason}: ${ready.message}`)}\n`)
  const isGone = wait === true && (await untilGone(context, timeout))
  shell.print(
    `${titleOf(context)} ${isGone ? 'is gone' : 'goes'}, with commit ${shortCommit(entry.commit)}. The next push to the branch brings it back.`,
  )
}

/** Follows the Preview until it lists the branch no more. */
async function untilGone(context: BranchContext, timeout: number): Promise<true> {
  const { shell, kube, preview, entry } = context
  let last = ''
  return follow(
    {
      ...{ kube, kind: Previews, ref: refOf(preview), within: seconds(timeout), what: `without branch ${entry.branch}` },
      ...{ where: () => last, signal: shell.signal },
    },
    (now) => {
      const listed = listedIn(now, context)
      last = harmlessLine([listed?.reason, listed?.message].filter(Boolean).join(': '))
      return listed ? undefined : true
    },
  )
}

/** As it was asked to end; a commit that came after that is not ended by it. */
function listedIn(now: Preview | undefined, context: BranchContext): BranchContext['entry'] | undefined {
  const { preview, entry } = context
  if (!now) throw new Failure('not-found', `${nameOf(preview)} was deleted.`)
  const listed = now.status?.environments?.find(({ branch }) => branch === entry.branch)
  if (!listed || listed.commit === entry.commit) return listed
  throw new Failure('conflict', `${titleOf(context)} stays: commit ${shortCommit(listed.commit)} was pushed meanwhile.`, {
    remedy: `End that one with \`${commandFor('delete', context)}\`.`,
  })
}
