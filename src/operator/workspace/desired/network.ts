import { BERTH_NAMESPACE, type WorkspaceClassSpec } from '../../../api/index.ts'

const DNS = 53
/** The API server's name for a namespace, on every namespace. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name'
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

/** Who may reach a workspace, and what it may reach: the proxy in, name resolution and the class's ranges out. */
export function networkPolicySpecOf(
  selector: Record<string, string>,
  { proxy, networkPolicy }: WorkspaceClassSpec,
  { hasParts, kasUrl }: { hasParts: boolean; kasUrl?: string | undefined },
): Record<string, unknown> {
  const isReached = proxy?.httpEnabled !== false || proxy?.sshEnabled !== false
  const fromProxy = {
    namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: proxy?.namespace ?? 'berth-system' } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'berth-proxy' } },
  }
  const ranges = networkPolicy?.egress ?? [{ allow: '0.0.0.0/0', except: PRIVATE }]
  return {
    podSelector: { matchLabels: selector },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      ...(isReached ? [{ from: [fromProxy] }] : []),
      ...(hasParts ? [{ from: [{ podSelector: { matchLabels: selector } }] }] : []),
    ],
    egress: [
      nameResolution,
      ...(kasUrl === undefined ? [] : [toKas(kasUrl)]),
      // The pods of one workspace reach each other, wherever the class lets it go.
      ...(hasParts ? [{ to: [{ podSelector: { matchLabels: selector } }] }] : []),
      ...ranges.map(({ allow, except }) => ({ to: [{ ipBlock: { cidr: allow, ...(except && { except }) } }] })),
    ],
  }
}

/** kas lies in ranges that workspaces mostly may not reach. */
function toKas(url: string) {
  const { port, protocol } = new URL(url)
  const kas = {
    namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: BERTH_NAMESPACE } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'berth-kas' } },
  }
  return { to: [kas], ports: [{ protocol: 'TCP', port: Number(port) || (protocol === 'https:' ? 443 : 80) }] }
}

const nameResolution = {
  to: [{ namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: 'kube-system' } } }],
  ports: [
    { protocol: 'UDP', port: DNS },
    { protocol: 'TCP', port: DNS },
  ],
}
