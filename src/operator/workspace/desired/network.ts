import { BERTH_NAMESPACE, type WorkspaceClassSpec } from '../../../api/index.ts'

const DNS = 53
/** The API server's name for a namespace, on every namespace. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name'
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

/** Lets the proxy in, and name resolution and the class's ranges and namespaces out. */
export function networkPolicySpecOf(
  selector: Record<string, string>,
  { proxy, networkPolicy }: WorkspaceClassSpec,
  { peers, kasUrls = [] }: { peers: readonly Record<string, string>[]; kasUrls?: readonly string[] },
): Record<string, unknown> {
  // Through a tunnel the proxy comes from inside.
  const isReached = proxy?.wayIn !== 'Tunnel' && (proxy?.httpEnabled !== false || proxy?.sshEnabled !== false)
  const fromProxy = {
    ...inNamespace(proxy?.namespace ?? BERTH_NAMESPACE),
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'berth-proxy' } },
  }
  const ranges = networkPolicy?.egress ?? [{ allow: '0.0.0.0/0', except: PRIVATE }]
  return {
    podSelector: { matchLabels: selector },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      ...(isReached ? [{ from: [fromProxy] }] : []),
      ...peers.map((matchLabels) => ({ from: [{ podSelector: { matchLabels } }] })),
    ],
    egress: [
      nameResolution,
      ...kasUrls.map(toKas),
      // The pods of one workspace and of its devfile's objects reach each other, wherever the class lets it go.
      ...peers.map((matchLabels) => ({ to: [{ podSelector: { matchLabels } }] })),
      ...(networkPolicy?.namespaces ?? []).map((name) => ({ to: [inNamespace(name)] })),
      ...ranges.map(({ allow, except }) => ({ to: [{ ipBlock: { cidr: allow, ...(except && { except }) } }] })),
    ],
  }
}

/** kas lies in ranges that workspaces mostly may not reach. */
function toKas(url: string) {
  const { hostname, port, protocol } = new URL(url)
  // By the name of its Service, as `kas.berth-system.svc`.
  const [, namespace = BERTH_NAMESPACE] = /^[^.]+\.([^.]+)\.svc(\.|$)/.exec(hostname) ?? []
  const kas = {
    ...inNamespace(namespace),
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'berth-kas' } },
  }
  return { to: [kas], ports: [{ protocol: 'TCP', port: Number(port) || (/^(https|grpcs|wss):$/.test(protocol) ? 443 : 80) }] }
}

const inNamespace = (name: string) => ({ namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: name } } })

const nameResolution = {
  to: [inNamespace('kube-system')],
  ports: [
    { protocol: 'UDP', port: DNS },
    { protocol: 'TCP', port: DNS },
  ],
}
