import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { dirOf, withDir } from '../options.ts'
import { FORMATS, type OutputFormat, WIDTH } from '../output.ts'
import { reportTo } from '../report.ts'
import type { Shell } from '../shell.ts'
import { ended } from '../signals.ts'
import { actionVerb } from '../verb.ts'
import { checkCluster } from './cluster.ts'
import { watchParts } from './guard.ts'
import {
  bringUp,
  clusterIn,
  foundIn,
  hasSimulatedPods,
  type Installation,
  isUpAlready,
  takeDown,
  type UpOptions,
} from './installation.ts'
import { loadInto } from './node.ts'
import { tellSources } from './sources.ts'
import { missingAt, startAlone, tidyUp } from './start.ts'

interface Options {
  dir: string
  detach?: boolean
  kubeconfig?: string
  node?: boolean
  load: string[]
  where?: boolean
  output?: OutputFormat
}

export const verb = actionVerb({
  description:
    'Bring up a local control plane, install Berth on it, and run the operator, kas and a Git server beside it. Each folder has its own, with the same ports each time (its ports.json). Of the variables of the programs only BERTH_WORKSPACE_IMAGE counts: the small image that clones into workspaces.',
  examples: [
    ['berth up', 'until Ctrl-C'],
    ['berth up --dir /tmp/one --detach', 'and return'],
    ['berth up --node', 'with real pods'],
    ['berth up --node --load app.tar', 'and an image of yours for them'],
    ['berth up --kubeconfig kind.yaml', 'on a cluster that is there'],
    ['berth up --where', 'cache, download or build?'],
  ],
  options: (command) =>
    withDir(command)
      .option('--detach', 'leave it running; `berth down` ends it')
      .option('--kubeconfig <file>', 'install on this cluster instead of starting a control plane')
      .addOption(
        new Option(
          '--node',
          'run pods on a real node: a kubelet and containerd, where the machine can (root, Linux, cgroup v1)',
        ).conflicts('kubeconfig'),
      )
      .addOption(
        new Option(
          '--load <file>',
          'give the node the images of an OCI archive, or of what `docker save` wrote, under their names in it; may be repeated, also when it is up. Others are pulled',
        )
          .argParser((file: string, before: string[]) => [...before, file])
          .default([], 'none')
          .conflicts('kubeconfig'),
      )
      .option('--where', 'only tell where the programs of the control plane would come from, and why')
      .addOption(new Option('-o, --output <format>', 'how --where prints (default: table)').choices(FORMATS)),
  async run(shell, options: Options, command: Command) {
    if (options.output && !options.where) command.error('error: -o is how --where prints, and --where was not given')
    return options.where ? tellSources(shell, options) : up(shell, options)
  },
})

async function up(shell: Shell, options: Options): Promise<ExitCode> {
  const dir = dirOf(shell, options)
  const detached = options.detach === true
  const plan: UpOptions = {
    shell,
    dir,
    detached,
    report: reportTo(shell, WIDTH),
    kubeconfig: options.kubeconfig,
    node: options.node ? 'if-possible' : undefined,
  }
  const files = options.load.map((file) => resolve(shell.cwd, file))
  const missing = files.find((file) => !existsSync(file))
  if (missing !== undefined)
    throw new Failure('not-found', `--load: there is no file ${missing}`, { remedy: 'Name one that is there.' })
  if (options.kubeconfig) await checkCluster(resolve(shell.cwd, options.kubeconfig), shell.signal)
  const { installation, isNew } = await startAlone(plan, {
    made: missingAt(dir),
    find: () => found(plan),
    start: async () => {
      const made = await bringUp(plan)
      await loadInto(made, files, plan)
      return { installation: made, isNew: true }
    },
  })
  if (!isNew) await loadInto(installation, files, plan)
  shell.print(howToUse(installation, isNew ? options : { ...options, detach: true }))
  if (detached || !isNew) return exitCodes.ok
  const own = installation.parts
  try {
    await watchParts(shell, installation, ({ signal }) => ended(signal))
  } catch (thrown) {
    await tidyUp(shell, () => takeDown(shell, dir, { own }))
    throw thrown
  }
  await takeDown(shell, dir, { own })
  return exitCodes.ok
}

function found({ dir, kubeconfig, node, report }: UpOptions): { installation: Installation; isNew: boolean } | undefined {
  const cluster = clusterIn(dir)
  if (cluster === 'other' || (cluster && kubeconfig)) throw isUpAlready(dir)
  const known = foundIn(dir)
  if (!known) return undefined
  if (!known.installation) {
    report.line(`In ${dir} ended by itself: ${known.ended.join(', ')}. Everything there is started again.`)
    return undefined
  }
  if (node && !known.installation.hasNode) throw isUpAlready(dir)
  report.line(`Berth is up already in ${dir}, and nothing was started. End it first to start it anew.`)
  return { installation: known.installation, isNew: false }
}

const howToUse = (installation: Installation, { detach }: Options): string => {
  const { kubeconfig, gitUrl, gitUrlForPods, repositories, dir } = installation
  return [
    'Berth is up.',
    `  export KUBECONFIG=${kubeconfig}`,
    ...wayToKas(installation),
    `  git: ${gitUrl}/<name>.git is`,
    `       ${repositories}/<name>.git (git init --bare)`,
    ...(gitUrlForPods === gitUrl ? [] : [`       ${gitUrlForPods}/<name>.git in GitProjects, for pods`]),
    `  webhooks: POST http://${factsOf(installation, 'kas').webhooks}/webhooks/<namespace>/<project>`,
    ...(hasSimulatedPods(installation) ? ['  pods: simulated by kwok, and nothing runs in them; --node makes real ones'] : []),
    `  logs: ${dir}/logs`,
    detach ? `  berth down --dir ${dir}    ends it` : '  Ctrl-C ends it',
  ].join('\n')
}

/** The verbs of `berth agent` would have to be told this. */
function wayToKas(installation: Installation): string[] {
  const { authority } = installation
  const facts = factsOf(installation, 'kas')
  if (!authority) return []
  return [
    `  export BERTH_KAS_ADDRESS=grpcs://${facts.listen}`,
    `  export BERTH_KAS_CA=${authority}`,
    `  export BERTH_KUBERNETES_API_URL=https://${facts.kubernetesApi}`,
  ]
}

const factsOf = ({ parts }: Installation, program: string): Record<string, string> =>
  parts.find(({ name }) => name === program)?.facts ?? {}
