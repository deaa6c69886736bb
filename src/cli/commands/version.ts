import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, examples, withKube, withKubeconfig, withOutput } from '../options.ts'
import { type Format, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { versionOf } from '../version.ts'

interface Options extends ClusterOptions {
  output: Format
  server?: boolean
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withKubeconfig(command))
      .option('--server', 'ask the cluster for its version, too')
      .addHelpText(
        'after',
        examples(['berth version', 'this program and what runs it'], ['berth version --server -o json', 'and the cluster']),
      )
      .action(
        finish(async (options: Options) => {
          const parts = [
            { name: 'berth', version: versionOf(shell.home) },
            { name: 'node', version: process.versions.node },
            ...(options.server ? [{ name: 'kubernetes', version: await serverVersion(shell, options) }] : []),
          ]
          shell.print(
            render(options.output, parts, [
              { title: 'PROGRAM', of: ({ name }) => name },
              { title: 'VERSION', of: ({ version }) => version },
            ]),
          )
          return exitCodes.ok
        }),
      )
  },
}

async function serverVersion(shell: Shell, options: ClusterOptions): Promise<string> {
  const { gitVersion } = await withKube(shell, options, (kube) => kube.read<{ gitVersion: string }>('/version'))
  return gitVersion.replace(/^v/, '')
}
