import { readFileSync } from 'node:fs'
import {
  annotations,
  type KubeObject,
  type SpaceRequest,
  SpaceRequests,
  type SpaceTier,
  SpaceTiers,
} from '../../src/api/index.ts'

/** A tier with a bit of everything; tiers are cluster-scoped, so each test names its own. */
export const spaceTier = (name: string, spec: Partial<SpaceTier['spec']> = {}): SpaceTier => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: SpaceTiers.kind,
  metadata: { name },
  spec: {
    labels: { 'team.example/cost-centre': '42' },
    annotations: { 'team.example/contact': 'ops@example.com' },
    podSecurityLevel: 'baseline',
    quota: { 'requests.cpu': '1500m', 'requests.memory': '4Gi', 'limits.cpu': 4, pods: '20' },
    limitRange: [{ type: 'Container', default: { cpu: '500m' }, max: { cpu: '2' } }],
    networkPolicies: [
      { name: 'deny-ingress', spec: { podSelector: {}, policyTypes: ['Ingress'] } },
      { name: 'same-namespace', spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 8080 }] }] } },
    ],
    ...spec,
  },
})

export const spaceRequest = (
  namespace: string,
  name: string,
  spec: Partial<SpaceRequest['spec']> = {},
  metadata: Partial<SpaceRequest['metadata']> = {},
): SpaceRequest => ({
  apiVersion: 'toolchain.dev.openshift.com/v1alpha1',
  kind: SpaceRequests.kind,
  metadata: { name, namespace, ...metadata },
  spec: { tierName: 'none', ...spec },
})

/** The object as one writes it who says that this person asked for it: name and groups, a line each. */
export const requestedBy = <T extends KubeObject>(requester: string, object: T): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [annotations.requester]: requester } },
})

/** What `docs/spec/v1/spacetier.md` tells administrators to apply where the operator is to make privileged namespaces. */
export function leaveForPrivileged(): string {
  const page = readFileSync(new URL('../../docs/spec/v1/spacetier.md', import.meta.url), 'utf8')
  return /^ {2}```yaml\n((?: {2}.*\n)+?) {2}```/m.exec(page)?.[1]?.replace(/^ {2}/gm, '') ?? ''
}
