import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { lock, takeFolder } from '../../adapters/control-plane/index.ts'
import { systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { clearAfter, missingAt, tidyUp } from '../local/after-failure.ts'
import { watchParts } from '../local/guard.ts'
import { type BringUp, bringUp, foundIn, type Installation, takeDown } from '../local/installation.ts'
import { tellSources } from '../local/sources.ts'
import { dirOf, examples, withDir } from '../options.ts'
import { FORMATS, type Format, WIDTH } from '../output.ts'
import { reportTo } from '../report.ts'
import type { Shell } from '../shell.ts'
import { ended } from '../signals.ts'
import type { Finish } from '../verb.ts'

interface Options {
  dir: string
  detach?: boolean
  kubeconfig?: string
  where?: boolean
  output?: Format
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withDir(command)
      .description(
        'Bring up a local control plane, install Berth on it, and run the operator, kas and a Git server beside it. Each folder has its own.',
      )
      .option('--detach', 'leave it running; `berth down` ends it')
      .option('--kubeconfig <file>', 'install on this cluster instead of starting a control plane')
      .option('--where', 'only tell where the programs of the control plane would come from, and why')
      .addOption(new Option('-o, --output <format>', 'how --where prints (default: table)').choices(FORMATS))
      .addHelpText(
        'after',
        examples(
          ['berth up', 'until Ctrl-C'],
          ['berth up --dir /tmp/one --detach', 'and return'],
          ['berth up --kubeconfig kind.yaml', 'on a cluster that is there'],
          ['berth up --where', 'cache, download or build?'],
        ),
      )
      .action(
        finish((options: Options) => {
          if (options.output && !options.where) command.error('error: -o is how --where prints, and --where was not given')
          return up(shell, options)
        }),
      )
  },
}

async function up(shell: Shell, options: Options): Promise<ExitCode> {
  if (options.where) return tellSources(shell, options)
  const dir = dirOf(shell, options)
  const detached = options.detach === true
  const plan: BringUp = { shell, dir, detached, report: reportTo(shell, WIDTH), kubeconfig: options.kubeconfig }
  const { installation, isNew } = await start(plan)
  shell.print(howToUse(installation, isNew ? options : { ...options, detach: true }))
  if (detached || !isNew) return exitCodes.ok
  try {
    await watchParts(shell, installation, ({ signal }) => ended(signal))
  } finally {
    await tidyUp(shell, () => takeDown(shell, dir))
  }
  return exitCodes.ok
}

/** Where it fails, nothing runs, and a folder that was made for it goes. One that is refused is left as it is. */
async function start(plan: BringUp): Promise<{ installation: Installation; isNew: boolean }> {
  const { shell, dir, report, kubeconfig } = plan
  const made = missingAt(dir)
  const letGo = await holdFolder(plan)
  try {
    const found = kubeconfig ? undefined : foundIn(dir)
    if (found?.installation) {
      report.line(`Berth is up already in ${dir}, and nothing was started. End it first to start it anew.`)
      return { installation: found.installation, isNew: false }
    }
    if (found) report.line(`In ${dir} ended by itself: ${found.ended.join(', ')}. Everything there is started again.`)
    return { installation: await bringUp(plan), isNew: true }
  } catch (thrown) {
    await tidyUp(
      shell,
      () => takeDown(shell, dir),
      () => clearAfter(thrown, shell, made),
    )
    throw thrown
  } finally {
    letGo()
  }
}

/** Of two starts in one folder the second waits: then it finds what the first has brought up, or starts it. */
async function holdFolder({ dir, report, shell: { signal } }: BringUp): Promise<() => void> {
  const waiting = (holder: string) => report.line(`Another start (${holder}) is at work in ${dir}: waiting for it.`)
  while (true) {
    takeFolder(dir)
    try {
      return await lock(join(dir, 'start.lock'), { clock: systemClock, waiting, signal })
    } catch (thrown) {
      // The other has failed, and removed the folder that it had made.
      if (existsSync(dir)) throw thrown
    }
  }
}

const howToUse = (installation: Installation, { detach }: Options): string => {
  const { kubeconfig, gitUrl, repositories, dir } = installation
  return [
    'Berth is up.',
    `  export KUBECONFIG=${kubeconfig}`,
    ...wayToKas(installation),
    `  git: ${gitUrl}/<name>.git is`,
    `       ${repositories}/<name>.git (git init --bare)`,
    `  logs: ${dir}/logs`,
    detach ? `  berth down --dir ${dir}    ends it` : '  Ctrl-C ends it',
  ].join('\n')
}

/** What the verbs of `berth agent` would have to be told. */
function wayToKas({ authority, parts }: Installation): string[] {
  const facts = parts.find(({ name }) => name === 'kas')?.facts
  if (!authority || !facts) return []
  return [
    `  export BERTH_KAS_ADDRESS=grpcs://${facts.listen}`,
    `  export BERTH_KAS_CA=${authority}`,
    `  export BERTH_KUBERNETES_API_URL=https://${facts.kubernetesApi}`,
  ]
}
