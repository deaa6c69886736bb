import { type Command, Option } from 'commander'
import { parseConfig, start } from '../../agentw/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { versionOf } from '../version.ts'

const OPTIONS: readonly [flags: string, description: string, variable: string][] = [
  ['--kas-address <url>', 'kas, as grpc://, grpcs://, ws:// or wss://', 'BERTH_KAS_ADDRESS'],
  ['--token-file <file>', 'proves to kas whose pod this is; read again for each tunnel', 'BERTH_TOKEN_FILE'],
  ['--ca-cert-file <file>', "certificate authority of kas, beside the system's", 'BERTH_KAS_CA'],
  ['--workspace <namespace/name>', 'the Workspace that the pod belongs to', 'BERTH_WORKSPACE_KEY'],
  ['--log-level <level>', 'debug, info, warn or error (default: info)', 'BERTH_LOG_LEVEL'],
]

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    command.description(
      'Run in the pod of a workspace, and let people into its ports through kas. The operator starts it where the class says so. Its log goes to standard output, one JSON object a line.',
    )
    for (const [flags, description, variable] of OPTIONS) command.addOption(new Option(flags, description).env(variable))
    command
      .addHelpText('after', examples(['berth agentw --kas-address grpcs://kas --token-file token --workspace a/w', 'in its pod']))
      .action(
        finish(async (given: Record<string, string>) => {
          const config = parseConfig(given, shell.env)
          await start(config, shell.signal, {
            log: { write: (line) => shell.print(line.trimEnd()) },
            version: `v${versionOf(shell.home)}`,
          })
          return exitCodes.ok
        }),
      )
  },
}
