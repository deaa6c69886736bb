import type { Upstream } from '../../src/adapters/http/index.ts'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  labels,
  type Service,
  Services,
  type Workspace,
  type WorkspaceSpec,
  Workspaces,
  workspaceObjectName,
} from '../../src/api/index.ts'
import { type Addresses, parseConfig, start } from '../../src/proxy/index.ts'
import type { TestCluster } from '../support/control-plane.ts'
import type { IdentityProvider } from '../support/identity-provider.ts'

export const ZONE = 'ws.example.com'
export const SIGN_IN = `sign-in.${ZONE}`

export interface RunningProxy {
  addresses: Addresses
  /** Everything it has logged. */
  log(): string
  /** Whether it has heard of the Service of the workspace, too: of each kind it hears in its own time. */
  leadsTo(workspace: Workspace): boolean
  stop(): Promise<void>
}

/** The proxy as it is, on free ports, in one namespace. What Services lead to is where `homes` has it. */
export async function runProxy({
  cluster,
  namespace,
  provider,
  homes,
  flags = {},
  keepsLog = true,
}: {
  cluster: TestCluster
  namespace: string
  provider: IdentityProvider
  /** By name of the Service and number of the port. */
  homes: Map<string, Upstream>
  flags?: Record<string, string | boolean>
  /** Without it lines are written, and forgotten. */
  keepsLog?: boolean
}): Promise<RunningProxy> {
  const lines: string[] = []
  const ledTo = new Set<string | undefined>()
  const ending = new AbortController()
  const up = Promise.withResolvers<Addresses>()
  const given = {
    kubeconfig: cluster.kubeconfig,
    namespace,
    homeNamespace: namespace,
    listen: '127.0.0.1:0',
    operations: '127.0.0.1:0',
    url: `https://${SIGN_IN}`,
    oidcIssuer: provider.issuer,
    oidcClientId: provider.clientId,
    oidcUsernameClaim: 'email',
    oidcGroupsClaim: 'groups',
    sessionGrace: '0',
    ...flags,
  }
  const done = start(parseConfig(given, {}), ending.signal, {
    log: { write: (line) => keepsLog && lines.push(line) },
    up: up.resolve,
    reach: (upstream, service) => {
      ledTo.add(service.metadata.labels?.[labels.workspaceUid])
      return homes.get(`${service.metadata.name}:${upstream.port}`) ?? upstream
    },
  })
  done.catch(up.reject)
  const addresses = await up.promise
  return {
    addresses,
    log: () => lines.join(''),
    leadsTo: ({ metadata }) => ledTo.has(metadata.uid),
    async stop() {
      ending.abort()
      await done
    },
  }
}

interface Published {
  spec?: WorkspaceSpec
  state?: 'Running' | 'Stopped' | 'Starting' | 'Failed' | 'Terminating'
  maxVisibility?: 'owner' | 'members' | 'authenticated' | 'public'
  idle?: number
  wayIn?: 'Service' | 'Tunnel'
  ports?: { name: string; port: number }[]
}

export const hostOf = (name: string, port = 3000): string => `${port}-${name}.${ZONE}`

/** A workspace as the operator leaves it: with its status, and the Service that leads to it. */
export async function publish(kube: Kube, namespace: string, name: string, how: Published = {}): Promise<Workspace> {
  const { spec = {}, ports = [{ name: 'app', port: 3000 }] } = how
  // Whoever makes it owns it, whatever the manifest says.
  const owner = kube.as({ user: spec.owner ?? 'ada@example.com', groups: ['system:masters'] })
  const made = await owner.create(Workspaces, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name, namespace },
    spec,
  })
  await kube.create(Services, serviceOf(made, ports))
  return settle(kube, made, how)
}

/** What the operator writes into the status. */
export function settle(kube: Kube, { metadata: { name, namespace = '' } }: Workspace, how: Published = {}): Promise<Workspace> {
  const { state = 'Running', maxVisibility, idle, wayIn, ports = [{ name: 'app', port: 3000 }] } = how
  const proxy = (maxVisibility || wayIn) && { proxy: { ...(maxVisibility && { maxVisibility }), ...(wayIn && { wayIn }) } }
  const status = {
    actualState: state,
    target: { namespace, apiURL: kube.server },
    class: { settings: { ...proxy, ...(idle && { idle: { stopAfterMinutes: idle } }) } },
    ports: ports.map((port) => ({ ...port, url: `https://${hostOf(name, port.port)}/` })),
  }
  return kube.patch(Workspaces, { name, namespace }, { status }, { subresource: 'status' })
}

const serviceOf = (workspace: Workspace, ports: { name: string; port: number }[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: workspaceObjectName(workspace),
    namespace: workspace.metadata.namespace ?? '',
    labels: { [labels.workspaceUid]: workspace.metadata.uid ?? '' },
  },
  spec: { ports: ports.map((port) => ({ ...port, protocol: 'TCP' })) },
})
