import { type Command, Option } from 'commander'
import { parseConfig, start } from '../../agent/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, examples, withCluster } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { versionOf } from '../version.ts'
import { which } from '../which.ts'

/** `berth agent run` */
export function defineRun(command: Command, shell: Shell, finish: Finish): void {
  withCluster(command)
    .description(
      'Run the agent: it brings about in this cluster what the manifest projects of its configuration say. Its log goes to standard output, one JSON object a line.',
    )
    .addOption(new Option('--kas-address <url>', 'grpc://, grpcs://, ws:// or wss://HOST:PORT').env('BERTH_KAS_ADDRESS'))
    .option('--token-file <file>', 'token of the agent; else AGENTK_TOKEN or BERTH_AGENT_TOKEN')
    .addOption(
      new Option('--ca-cert-file <file>', 'certificate authority of kas, believed beside the system').env('BERTH_KAS_CA'),
    )
    .option('--kas-header <header>', "'Name: value' that goes along with each call to kas; may be repeated", several)
    .option('--kas-tls-server-name <name>', 'what the certificate of kas is made for')
    .option('--kas-insecure-skip-tls-verify', 'believe any certificate of kas; for development only')
    .addOption(new Option('--namespace <name>', 'where this pod is, and the Lease of the leader').env('POD_NAMESPACE'))
    .addOption(new Option('--pod-name <name>', "this replica's name, in the Lease and in kas").env('POD_NAME'))
    .addOption(
      new Option('--operations <host:port>', '/livez, /readyz, /metrics (default: 127.0.0.1:8080)').env('BERTH_OPERATIONS'),
    )
    .addOption(new Option('--kubectl <file>', 'the program that renders kustomizations (default: kubectl)').env('BERTH_KUBECTL'))
    .addOption(
      new Option('--log-level <level>', 'debug, info, warn or error, until the configuration says otherwise (default: info)').env(
        'BERTH_LOG_LEVEL',
      ),
    )
    .addHelpText(
      'after',
      examples(
        ['berth agent run --kas-address grpcs://kas.example.com --token-file /config/token', 'in a pod'],
        ['berth agent run --kas-address grpc://127.0.0.1:8150 --token-file t --namespace x --pod-name me', 'by hand'],
      ),
    )
    .action(
      finish(async (given: ClusterOptions & Record<string, string | boolean | string[]>) => {
        const config = parseConfig(given, shell.env)
        const kubectl = which(config.kubectl, shell.env.PATH, shell.cwd)
        const log = { write: (line: string) => shell.print(line.trimEnd()) }
        await start({ ...config, kubectl }, shell.signal, { log, version: `v${versionOf(shell.home)}` })
        return exitCodes.ok
      }),
    )
}

const several = (value: string, before: string[] = []): string[] => [...before, value]
