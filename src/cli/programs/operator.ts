import { type Command, Option } from 'commander'
import { parseConfig, start } from '../../operator/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, examples, withCluster } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { which } from '../which.ts'

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withCluster(command)
      .description(
        'Run the operator: it reconciles every kind of Berth. Its log goes to standard output, one JSON object a line.',
      )
      .addOption(new Option('--namespace <name>', 'look after one namespace only').env('BERTH_WATCH_NAMESPACE'))
      .addOption(
        new Option('--lease-namespace <name>', 'where the Lease of the leader lives (default: berth-system)').env(
          'BERTH_NAMESPACE',
        ),
      )
      .addOption(new Option('--identity <name>', "this replica's name in the Lease").env('POD_NAME'))
      .option('--no-leader-election', 'act without holding the Lease')
      .addOption(
        new Option('--operations <host:port>', '/livez, /readyz, /metrics (default: 127.0.0.1:8081)').env('BERTH_OPERATIONS'),
      )
      .addOption(new Option('--api-url <url>', 'the URL of the API in kubeconfigs that are handed out').env('BERTH_API_URL'))
      .addOption(new Option('--kas <host:port>', 'where kas serves Git (default: 127.0.0.1:8150)').env('BERTH_KAS'))
      .addOption(
        new Option('--kas-git <url>', 'where pods of workspaces ask kas for Git credentials; without it they cannot').env(
          'BERTH_KAS_GIT',
        ),
      )
      .addOption(
        new Option('--kas-tunnels <url>', 'where pods of workspaces open tunnels, as grpcs:// or wss://').env(
          'BERTH_KAS_TUNNELS',
        ),
      )
      .addOption(new Option('--agentw-image <image>', 'the image of Berth that opens them').env('BERTH_AGENTW_IMAGE'))
      .addOption(new Option('--git-ca <file>', 'certificate authorities of Git servers, for workspaces').env('BERTH_GIT_CA'))
      .addOption(
        new Option(
          '--kas-api <url>',
          'where kas answers for the Kubernetes APIs of agents; without it no spaces are made there',
        ).env('BERTH_KAS_API'),
      )
      .addOption(new Option('--kas-ca <file>', 'certificate authority of kas; plain text without it').env('BERTH_KAS_CA'))
      .addOption(
        new Option('--kubectl <file>', 'the program that renders kustomizations (default: kubectl)').env('BERTH_KUBECTL'),
      )
      .option(
        '--refuse-local-targets',
        'neither targets nor notifications may lead to loopback or private addresses (env: BERTH_REFUSE_LOCAL_TARGETS)',
      )
      .option('--cross-namespace-dependencies', 'GitOpsDeployments may depend on those of other namespaces')
      .option(
        '--most-watches <n>',
        'watches on deployed objects at once (default: 20000); beyond it, they are compared each interval',
      )
      .option('--most-objects <n>', 'objects of all GitOpsDeployments of one namespace (default: 100000)')
      .option('--most-files <mebibytes>', 'of files that all GitOpsDeployments of one namespace follow (default: 64)')
      .option('--insecure-targets', 'do not verify certificates of targets made here; for development only')
      .addOption(new Option('--log-level <level>', 'debug, info, warn or error (default: info)').env('BERTH_LOG_LEVEL'))
      .addHelpText(
        'after',
        examples(
          ['berth operator --kubeconfig ~/.kube/config', 'beside the cluster'],
          ['berth operator --namespace team-a --no-leader-election', 'a second one, for one team'],
        ),
      )
      .action(
        finish(async (given: ClusterOptions & Record<string, string | boolean>) => {
          const config = parseConfig(given, shell.env)
          const kubectl = which(config.kubectl, shell.env.PATH, shell.cwd)
          await start({ ...config, kubectl }, shell.signal, { log: { write: (line) => shell.print(line.trimEnd()) } })
          return exitCodes.ok
        }),
      )
  },
}
