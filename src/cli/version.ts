import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordIn } from '../std/index.ts'
import { type ClusterOptions, type OutputOptions, withKube, withKubeconfig, withOutput } from './options.ts'
import { render } from './output.ts'
import type { Shell } from './shell.ts'
import { actionVerb } from './verb.ts'

interface Options extends ClusterOptions, OutputOptions {
  server?: boolean
}

export const verb = actionVerb({
  examples: [
    ['berth version', 'this program and what runs it'],
    ['berth version --server -o json', 'and the cluster'],
  ],
  options: (command) => withOutput(withKubeconfig(command)).option('--server', 'ask the cluster for its version, too'),
  async run(shell, options: Options) {
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
  },
})

async function serverVersion(shell: Shell, options: ClusterOptions): Promise<string> {
  const { gitVersion } = await withKube(shell, options, (kube) => kube.read<{ gitVersion: string }>('/version'))
  return gitVersion.replace(/^v/, '')
}

/** The version that package.json states. */
export const versionOf = (home: string): string =>
  String(recordIn(readFileSync(join(home, 'package.json'), 'utf8'))?.version ?? 'unknown')
