import { Option } from 'commander'
import { Failure, withoutEnd } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { fileAt, kubeconfigOf } from '../options.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { withAgent } from './registration.ts'

interface Options extends ObjectOptions {
  server: string
  certificateAuthority?: string
}

export const kubeconfig = actionVerb({
  description:
    "Print a kubeconfig for the cluster of an agent. It leads through kas, and logs in as the current kubeconfig does: with its token or its exec plugin. What you may do there says the agent's configuration.",
  examples: [
    ['berth agent kubeconfig dev -n team-a --server https://kas.example.com > dev.yaml', 'then kubectl --kubeconfig dev.yaml'],
  ],
  options: (command) =>
    withAgent(command)
      .addOption(
        new Option('--server <url>', 'where kas answers people, https://…: kubectl sends tokens nowhere else')
          .env('BERTH_KUBERNETES_API_URL')
          .default('https://127.0.0.1:8154'),
      )
      .addOption(
        new Option('--certificate-authority <file>', "PEM of the authorities that kas' certificate is of; else the system's").env(
          'BERTH_KAS_CA',
        ),
      ),
  run: printKubeconfig,
})

async function printKubeconfig(shell: Shell, name: string, options: Options): Promise<void> {
  const { loginOf } = await import('../../adapters/kube/index.ts')
  const login = loginOf({ kubeconfig: kubeconfigOf(shell, options), context: options.context })
  const { certificateAuthority: file } = options
  const authority = file && fileAt(shell, '--certificate-authority', file).toString('base64')
  const server = `${urlOf(options.server)}/k8s/namespaces/${options.namespace}/agents/${name}`
  const title = `berth-${options.namespace}-${name}`
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': title,
    clusters: [{ name: title, cluster: { server, ...(authority && { 'certificate-authority-data': authority }) } }],
    users: [{ name: title, user: login.reveal() }],
    contexts: [{ name: title, context: { cluster: title, user: title } }],
  }
  // JSON is YAML too; every client reads it.
  shell.print(JSON.stringify(config, null, 2))
}

function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:') return withoutEnd(text, '/')
  throw new Failure('invalid', `--server is "${text}"`, { remedy: 'Write it like https://kas.example.com.' })
}
