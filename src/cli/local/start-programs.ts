import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ControlPlane, NODE_ADDRESS } from '../../adapters/control-plane/index.ts'
import type { Shell } from '../shell.ts'
import { accountKubeconfigs } from './before-start.ts'
import { forPods, type ListenerName, type LocalNetwork, listenAddressOf } from './network.ts'
import { type LocalPart, startPart } from './parts.ts'

export interface PreparedCluster {
  kubeconfig: string
  kubectl: string
  /** The certificate that kas shows its clients: kubectl sends no token over plain text. */
  tls?: ControlPlane['tls']
  network: LocalNetwork
}

interface ProgramStart extends PreparedCluster {
  shell: Shell
  /** By its real path. */
  dir: string
  detached: boolean
  /** The only namespace that they look after. */
  scope?: string | undefined
}

/** The line of an operator that has the Lease; until then it does nothing. */
const LEADS = 'leading'

export const repositoriesIn = (dir: string): string => join(dir, 'repositories')

/** The Git server and kas, then the operator, which has to know where kas is. */
export async function startInTurn(start: ProgramStart): Promise<LocalPart[]> {
  const { shell, dir, detached, kubeconfig, kubectl, tls, network } = start
  const env = environmentOf(shell)
  const repositories = repositoriesIn(dir)
  mkdirSync(repositories, { recursive: true })
  const run = (name: string, up: string, ...flags: string[]) => {
    const [program, ...words] = shell.berth
    const [first = program, ...rest] = [...network.enter, program, ...words, name, ...flags]
    const works = name === 'operator' && !start.scope ? LEADS : undefined
    return startPart({ dir, name, up, works, detached, env, signal: shell.signal, command: [first, ...rest] })
  }
  const accounts = tls ? await accountKubeconfigs(dir, kubeconfig) : { kas: kubeconfig, operator: kubeconfig }
  const scope = start.scope ? ['--namespace', start.scope] : []
  // Nobody else runs one in a control plane of the folder's own: it does not wait for the Lease of one that was killed.
  const election = start.scope ? ['--no-leader-election'] : tls ? ['--identity', 'berth-up'] : []
  const git = listenAddressOf(network, 'git')
  const first = [
    run('git-server', 'serving', '--repositories', repositories, '--host', git.host, '--port', String(git.port)),
    run(
      'kas',
      'kas started',
      '--kubeconfig',
      accounts.kas,
      ...scope,
      ...listening(network, {
        operations: 'kas-operations',
        listen: 'kas',
        webhooks: 'webhooks',
        'git-credentials': 'git-credentials',
        'kubernetes-api': 'kubernetes-api',
      }),
      '--data-dir',
      join(dir, 'mirrors'),
      ...(tls ? ['--tls-cert', tls.certificate, '--tls-key', tls.key] : []),
    ),
  ] as const
  try {
    const [gitServer, kas] = await Promise.all(first)
    const operator = await run(
      'operator',
      'operator started',
      ...scope,
      ...election,
      ...(shell.env.BERTH_WORKSPACE_IMAGE ? ['--workspace-image', shell.env.BERTH_WORKSPACE_IMAGE] : []),
      ...operatorFlags({ kubeconfig: accounts.operator, kubectl, kas, authority: tls?.authority, network }),
    )
    return [gitServer, kas, operator]
  } finally {
    await Promise.allSettled(first)
  }
}

/** The flags that say on what a program listens. */
const listening = (network: LocalNetwork, listeners: Readonly<Record<string, ListenerName>>): string[] =>
  Object.entries(listeners).flatMap(([flag, listener]) => {
    const { host, port } = listenAddressOf(network, listener)
    return [`--${flag}`, `${host}:${port}`]
  })

/** Tells the operator of the programs beside it. `authority`: of kas' certificate, where it has one. */
export function operatorFlags({
  kubeconfig,
  kubectl,
  kas: { facts },
  authority,
  network,
}: Pick<PreparedCluster, 'kubeconfig' | 'kubectl' | 'network'> & { kas: LocalPart; authority: string | undefined }): string[] {
  const git = `${authority ? 'https' : 'http'}://${forPods(network, facts.gitCredentials ?? '')}`
  const api = authority ? ['--kas-ca', authority, '--kas-api', `https://${facts.kubernetesApi}`] : []
  const own = [...listening(network, { operations: 'operator' }), '--kubeconfig', kubeconfig, '--kubectl', kubectl]
  return [...own, '--kas', facts.listen ?? '', '--kas-git', git, ...api]
}

/** Settings that somebody exported for other programs; what is started here is told everything by flags, the image of workspaces too. */
const SETTINGS = /^(BERTH_|ETCD_|KUBE|KWOK_|POD_)/

/** This machine, and the node. */
const HERE = ['localhost', '127.0.0.1', NODE_ADDRESS].join()

/** Of the developer's environment what sets up none of the programs; and a proxy is for what is not on this machine. */
export function environmentOf({ env }: Pick<Shell, 'env'>): Shell['env'] {
  const direct = [env.no_proxy ?? env.NO_PROXY, HERE].filter(Boolean).join(',')
  const kept = Object.entries(env).filter(([name]) => !SETTINGS.test(name))
  return { ...Object.fromEntries(kept), NO_PROXY: direct, no_proxy: direct }
}
