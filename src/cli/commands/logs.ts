import { type Command, InvalidArgumentError } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { labels, type Pod, Pods, type Workspace } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { examples, wholeNumber } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { withTarget } from '../workspace/target.ts'
import { berth, titleOf, type WorkspaceOptions, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

interface Options extends WorkspaceOptions {
  container?: string
  previous?: boolean
  follow?: boolean
  tail: number
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWorkspace(command)
      .description(
        'Print the logs of a workspace: first what prepared it (init containers, such as the clone), then its containers. You must be allowed to read the credentials of its target.',
      )
      .option('-c, --container <name>', 'of one container only')
      .option('-p, --previous', 'of the run before: why it crashed')
      .option('-f, --follow', 'go on with what comes; of one container')
      .option('--tail <lines>', 'so many lines of each', lines, 200)
      .addHelpText(
        'after',
        examples(
          ['berth logs web -n team-a', 'of everything in it'],
          ['berth logs web -c tools -f', 'and what comes'],
          ['berth logs web -c tools --previous', 'why it crashed'],
        ),
      )
      .action(
        finish((name: string, options: Options) =>
          withWorkspaceAtHand(shell, name, options, ({ kube, workspace }) =>
            withTarget(kube, workspace, (target, home) => logs({ shell, workspace, target, home }, options)),
          ),
        ),
      )
  },
}

const MOST_LINES = 100_000

function lines(text: string): number {
  const number = wholeNumber(text)
  if (number > MOST_LINES) throw new InvalidArgumentError(`${MOST_LINES} is the most.`)
  return number
}

interface Place {
  shell: Shell
  workspace: Workspace
  target: Kube
  /** Its namespace there. */
  home: string
}

async function logs(place: Place, { container, previous, follow, tail }: Options): Promise<ExitCode> {
  const pod = await podOf(place)
  const chosen = containersOf(pod).filter(({ name }) => container === undefined || name === container)
  if (chosen.length === 0) {
    const names = containersOf(pod).map(({ name }) => name)
    throw new Failure('not-found', `there is no container ${container} in ${titleOf(place.workspace)}.`, {
      remedy: `There is ${names.join(', ')}.`,
    })
  }
  const query = `tailLines=${tail}${previous ? '&previous=true' : ''}`
  if (follow && chosen.length > 1) {
    throw new Failure('invalid', `${titleOf(place.workspace)} has more than one container.`, {
      remedy: `Choose one with -c: ${chosen.map(({ name }) => name).join(', ')}.`,
    })
  }
  for (const { name, hasBegun } of chosen) {
    if (chosen.length > 1) place.shell.say(`--- ${name}\n`)
    if (hasBegun) await printLog(place, pod, { name, query: follow ? `${query}&follow=true` : query })
    else place.shell.say('It has not begun.\n')
  }
  return exitCodes.ok
}

async function printLog(
  { shell, target, home }: Place,
  { metadata }: Pod,
  { name, query }: { name: string; query: string },
): Promise<void> {
  const path = `/api/v1/namespaces/${home}/pods/${metadata.name}/log?container=${encodeURIComponent(name)}&${query}`
  for await (const line of await target.stream(path, {
    signal: shell.signal,
    about: `the log of container ${name}`,
    accept: '*/*',
  }))
    shell.print(line)
}

/** The youngest. */
async function podOf({ workspace, target, home }: Place): Promise<Pod> {
  const pods = await target.list(Pods, { namespace: home, labels: `${labels.workspaceUid}=${workspace.metadata.uid}` })
  const [pod] = pods.sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
  if (pod) return pod
  throw new Failure('not-found', `${titleOf(workspace)} has no pod, and so no logs.`, {
    remedy: `See with \`${berth('describe', workspace)}\` why, or start it with \`${berth('start', workspace)}\`.`,
  })
}

function containersOf({ spec, status }: Pod): { name: string; hasBegun: boolean }[] {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const states = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return all.map(({ name }) => {
    const found = states.find((state) => state.name === name)
    const hasBegun = Boolean(found?.state?.running || found?.state?.terminated || found?.lastState?.terminated)
    return { name, hasBegun }
  })
}
