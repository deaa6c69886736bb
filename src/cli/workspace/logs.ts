import { InvalidArgumentError } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { nameOf, type Pod, type Workspace } from '../../api/index.ts'
import { containersOf, linesOfLog, withTarget, youngestPodOf } from '../../engines/lookout/index.ts'
import { Failure } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { wholeNumber } from '../options.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { commandFor, onWorkspace, withWorkspace } from './workspace.ts'

interface Options extends ObjectOptions {
  container?: string
  previous?: boolean
  follow?: boolean
  tail: number
}

export const verb = actionVerb({
  description:
    'Print the logs of a workspace: first what prepared it (init containers, such as the clone), then its containers. In a space of its own only the owner sees them; elsewhere whoever may read the credentials of its target.',
  examples: [
    ['berth logs web -n team-a', 'of everything in it'],
    ['berth logs web -c tools -f', 'and what comes'],
    ['berth logs web -c tools --previous', 'why it crashed'],
  ],
  options: (command) =>
    withWorkspace(command)
      .option('-c, --container <name>', 'of one container only')
      .option('-p, --previous', 'of the run before: why it crashed')
      .option('-f, --follow', 'go on with what comes; of one container')
      .option('--tail <lines>', 'so many lines of each', lines, 200),
  run: onWorkspace(({ shell, kube, workspace }, options: Options) =>
    withTarget(kube, workspace, { reach: undefined }, (target, home) => logs({ shell, workspace, target, home }, options)),
  ),
})

const MOST_LINES = 100_000

function lines(text: string): number {
  const number = wholeNumber(text)
  if (number > MOST_LINES) throw new InvalidArgumentError(`${MOST_LINES} is the most.`)
  return number
}

interface LogContext {
  shell: Shell
  workspace: Workspace
  target: Kube
  /** Its namespace there. */
  home: string
}

async function logs(context: LogContext, options: Options): Promise<void> {
  const { shell } = context
  const { pod, chosen } = await chosenContainers(context, options)
  if (options.follow && chosen.length > 1)
    throw new Failure('invalid', `${nameOf(context.workspace)} has more than one container.`, {
      remedy: `Choose one with -c: ${chosen.map(({ name }) => name).join(', ')}.`,
    })
  for (const container of chosen) {
    const log = await logOf(context, { ...options, pod, container })
    if (chosen.length > 1) shell.say(`--- ${container.name}\n`)
    if (log) for await (const line of log) shell.print(line)
    else shell.say(`${noLog(options)}\n`)
  }
}

interface Choice {
  pod: string
  chosen: ReturnType<typeof containersOf>
}

/** All containers of the pod, in the order in which they begin, or the one that is named. */
export async function chosenContainers(
  context: Omit<LogContext, 'shell'>,
  { container }: { container?: string | undefined },
): Promise<Choice> {
  const pod = await podOf(context)
  const chosen = containersOf(pod).filter(({ name }) => container === undefined || name === container)
  if (chosen.length > 0) return { pod: pod.metadata.name, chosen }
  const names = containersOf(pod).map(({ name }) => name)
  throw new Failure('not-found', `there is no container ${container} in ${nameOf(context.workspace)}.`, {
    remedy: `There is ${names.join(', ')}.`,
  })
}

interface Wanted {
  pod: string
  container: Choice['chosen'][number]
  tail: number
  previous?: boolean
  follow?: boolean
  /** Bytes, from the first of these lines on. */
  most?: number
}

/** The log of one container, line by line; nothing where there is none. */
export async function logOf(
  { shell, target, home }: Omit<LogContext, 'workspace'>,
  { pod, container: { name, hasBegun, hasRunBefore }, tail, previous, follow, most }: Wanted,
): Promise<AsyncIterable<string> | undefined> {
  if (!(previous ? hasRunBefore : hasBegun)) return undefined
  const words = [`tailLines=${tail}`, previous && 'previous=true', follow && 'follow=true', most && `limitBytes=${most}`]
  return linesOfLog({ target, home, pod, container: name }, words.filter(Boolean).join('&'), shell.signal)
}

/** Why there is none. */
export const noLog = ({ previous }: { previous?: boolean }): string =>
  previous ? 'There was no run before this one.' : 'It has not begun.'

/** It has no logs where it has no pod. */
async function podOf({ workspace, target, home }: Omit<LogContext, 'shell'>): Promise<Pod> {
  const pod = await youngestPodOf(workspace, { target, home })
  if (pod) return pod
  throw new Failure('not-found', `${nameOf(workspace)} has no pod, and so no logs.`, {
    remedy: `See with \`${commandFor('describe', workspace)}\` why, or start it with \`${commandFor('start', workspace)}\`.`,
  })
}
