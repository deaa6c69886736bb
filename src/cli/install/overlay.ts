import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { BERTH_NAMESPACE, PART_OF_BERTH } from '../../api/index.ts'
import type { InstallValues, IssuerValues, ProgramValues, ServiceValues } from './generated/values.ts'

/** Values that are enough for an installation. */
export type ImageValues = InstallValues & { image: string }

/** A kustomization that lies beside `crds` and `deploy`, and the objects that it names beside them. */
export interface Overlay {
  kustomization: object
  /** For the file `settings.json` beside it. */
  settings: object
}

const PROGRAMS = ['operator', 'kas', 'proxy', 'certificates'] as const
type Program = (typeof PROGRAMS)[number]

export function overlayOf(values: ImageValues): Overlay {
  const settings = settingsOf(values)
  const installed = PROGRAMS.filter((program) => isInstalled(program, values))
  const { kas, proxy } = values
  const labels = values.monitoring?.labels
  const services = { kas: kas?.service, proxy: proxy?.service }
  return {
    kustomization: {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [...foldersOf(values), 'settings.json'],
      components: componentsOf(values),
      labels: [{ pairs: PART_OF_BERTH }],
      images: [{ name: 'berth', ...imageParts(values.image) }],
      patches: [
        ...installed.map((program) => patchOf('Deployment', program, podsOf(program, values, settings))),
        ...(values.gitCa === undefined ? [] : [patchOf('Deployment', 'operator', GIT_CA)]),
        ...(proxy?.oidcCa === undefined ? [] : [patchOf('Deployment', 'proxy', OIDC_CA)]),
        ...(kas?.certificateIssuer ? [certificateOf('kas', kas.certificateIssuer, kas.names)] : []),
        ...(proxy?.certificateIssuer ? [certificateOf('berth-proxy', proxy.certificateIssuer, proxy.certificateNames)] : []),
        ...(labels ? MONITORED.map((kind) => labelled(kind, labels)) : []),
        ...Object.entries(services).flatMap(([name, service]) => (service ? [patchOf('Service', name, serviceOf(service))] : [])),
      ],
    },
    settings: { apiVersion: 'v1', kind: 'List', items: settings },
  }
}

/** As deploy/kustomization.yaml has them, where nothing is said. */
function foldersOf(values: InstallValues): string[] {
  const { policies, everywhere, proxy, certificates, monitoring } = values
  return [
    'crds',
    'deploy/namespace',
    policies === 'legacy' ? 'deploy/policies-legacy' : 'deploy/policies',
    'deploy/people',
    'deploy/certificates',
    ...(certificates === 'none' ? [] : ['deploy/certificates/program']),
    'deploy/operator',
    'deploy/operator/program',
    'deploy/kas',
    isReplicated(values) ? 'deploy/kas/replicated' : 'deploy/kas/program',
    'deploy/proxy',
    ...(proxy ? ['deploy/proxy/program'] : []),
    ...(everywhere ? ['deploy/everywhere'] : []),
    ...(monitoring ? ['deploy/monitoring'] : []),
  ]
}

const isReplicated = ({ programs }: InstallValues): boolean => (programs?.kas?.replicas ?? 1) > 1

const componentsOf = ({ kas, proxy, ...others }: InstallValues): string[] => [
  // A single kas has nobody to tell.
  ...(kas?.redis && isReplicated(others) ? ['deploy/kas/redis'] : []),
  ...(proxy?.tunnels ? ['deploy/proxy/tunnels'] : []),
  ...(proxy?.authorizeCallers ? ['deploy/proxy/authorize'] : []),
  ...(proxy?.ssh ? ['deploy/proxy/ssh'] : []),
  ...(kas?.certificateIssuer ? ['deploy/certificates/cert-manager/kas'] : []),
  ...(proxy?.certificateIssuer ? ['deploy/certificates/cert-manager/proxy'] : []),
]

const isInstalled = (program: Program, { proxy, certificates }: InstallValues): boolean =>
  program === 'proxy' ? proxy !== undefined : program !== 'certificates' || certificates !== 'none'

interface Settings {
  apiVersion: 'v1'
  kind: 'ConfigMap'
  metadata: { name: string; namespace: string }
  data: Record<string, string | undefined>
}

/** The names of the ConfigMaps that the Deployments look into. */
export const SETTINGS_MAPS = ['berth', 'berth-proxy'] as const

/** These, as the values have it. They are there without content, too: what was said before is to go. */
function settingsOf({
  image,
  workspaceImage,
  apiUrl,
  gitCa,
  namespace = BERTH_NAMESPACE,
  kas,
  proxy,
  tracing,
}: ImageValues): Settings[] {
  const {
    certificateNames,
    authorizeCallers,
    tunnels: _,
    service: __,
    certificateIssuer: ___,
    ssh,
    sshTokens,
    sshCertificatesFor,
    ...oidc
  } = proxy ?? {}
  const maps: Partial<Record<(typeof SETTINGS_MAPS)[number], Settings['data']>> = {
    berth: {
      workspaceImage,
      apiUrl,
      gitCa,
      otlpEndpoint: tracing?.endpoint,
      kasNames: kas?.names?.join(','),
      kasTunnels: kas?.tunnels,
      redis: kas?.redis,
      agentwImage: kas?.tunnels && image,
    },
    ...(proxy && {
      'berth-proxy': {
        ...oidc,
        certificateNames: certificateNames?.join(','),
        authorizeCallers: authorizeCallers?.join(','),
        sshTokens: ssh && sshTokens ? 'true' : undefined,
        sshCertificatesFor: ssh ? sshCertificatesFor?.toString() : undefined,
      },
    }),
  }
  return Object.entries(maps).map(([name, data]) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  }))
}

/** Pods do not notice when a ConfigMap changes that their variables come from: those that read one carry its digest. */
const READS: Record<Program, readonly string[]> = {
  operator: ['berth'],
  kas: ['berth'],
  proxy: ['berth-proxy'],
  certificates: ['berth', 'berth-proxy'],
}

function podsOf(
  program: Program,
  { imagePullSecrets, programs }: InstallValues,
  settings: readonly Settings[],
): { spec: object } {
  const { replicas, resources, env, ...placement }: ProgramValues = programs?.[program] ?? {}
  // What `deploy/` takes from elsewhere is a text now.
  const variables = env && Object.entries(env).map(([name, value]) => ({ name, value, valueFrom: null }))
  const read = settings.filter(({ metadata }) => READS[program].includes(metadata.name))
  const digest = createHash('sha256').update(JSON.stringify(read)).digest('hex')
  return {
    spec: {
      replicas,
      template: {
        metadata: { annotations: { 'checksum/settings': digest } },
        spec: {
          ...placement,
          imagePullSecrets: imagePullSecrets?.map((name) => ({ name })),
          containers: [{ name: program, resources, env: variables }],
        },
      },
    },
  }
}

/** A program takes authorities from a file, which is a key of its ConfigMap. */
const authoritiesPatchOf = (container: Program, variable: string, { map, key, at }: Record<'map' | 'key' | 'at', string>) => ({
  spec: {
    template: {
      spec: {
        containers: [
          {
            name: container,
            env: [{ name: variable, value: `/etc/berth/${at}/ca.crt` }],
            volumeMounts: [{ name: `${at}-ca`, mountPath: `/etc/berth/${at}`, readOnly: true }],
          },
        ],
        volumes: [{ name: `${at}-ca`, configMap: { name: map, items: [{ key, path: 'ca.crt' }] } }],
      },
    },
  },
})

const GIT_CA = authoritiesPatchOf('operator', 'BERTH_GIT_CA', { map: 'berth', key: 'gitCa', at: 'git' })
const OIDC_CA = authoritiesPatchOf('proxy', 'BERTH_OIDC_CA', { map: 'berth-proxy', key: 'oidcCa', at: 'provider' })

/** What cert-manager is asked for, beside what `deploy/` says. */
function certificateOf(name: string, issuer: IssuerValues, names: readonly string[] = []) {
  const addresses = names.filter((one) => isIP(one) !== 0)
  const hosts = names.filter((one) => isIP(one) === 0)
  return {
    target: { kind: 'Certificate', name },
    patch: JSON.stringify([
      { op: 'replace', path: '/spec/issuerRef', value: { group: 'cert-manager.io', kind: 'ClusterIssuer', ...issuer } },
      ...hosts.map((value) => ({ op: 'add', path: '/spec/dnsNames/-', value })),
      ...(addresses.length > 0 ? [{ op: 'add', path: '/spec/ipAddresses', value: addresses }] : []),
    ]),
  }
}

/** What a Prometheus chooses by labels. */
const MONITORED = ['PodMonitor', 'PrometheusRule'] as const

const labelled = (kind: (typeof MONITORED)[number], labels: Record<string, string>) => ({
  target: { kind, name: 'berth' },
  patch: JSON.stringify({ apiVersion: 'monitoring.coreos.com/v1', kind, metadata: { name: 'berth', labels } }),
})

const serviceOf = ({ type, annotations }: ServiceValues) => ({ annotations, spec: { type } })

const patchOf = (
  kind: 'Deployment' | 'Service',
  name: string,
  { annotations, spec }: { annotations?: object | undefined; spec: object },
) => ({
  target: { kind, name },
  patch: JSON.stringify({ apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1', kind, metadata: { name, annotations }, spec }),
})

/** A colon before a slash is a port, and no tag. */
function imageParts(image: string) {
  const [, newName = image, newTag, digest] = /^(.+?)(?::([\w.-]+))?(?:@(sha256:\w+))?$/.exec(image) ?? []
  return { newName, ...(digest ? { digest } : { newTag }) }
}
