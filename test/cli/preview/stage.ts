import { type Environment, Environments, type Preview, type PreviewStatus, Previews } from '../../../src/api/index.ts'
import { environment } from '../../support/builders/environments.ts'
import type { TestCluster } from '../../support/control-plane.ts'
import { berth, type Outcome } from '../berth.ts'

export const CART = 'ca47'.repeat(10)
export const NEXT = 'ca48'.repeat(10)
export const LOGIN = '1091'.repeat(10)
export const OLD = '01d0'.repeat(10)

type Entry = NonNullable<PreviewStatus['environments']>[number]

export const entry = (name: string, branch: string, more: Partial<Entry> = {}): Entry => ({
  ...{ name, branch, commit: CART, since: '2026-01-01T00:00:00Z', ready: true, reason: 'Ready' },
  ...more,
})

export const counts = (more: Partial<NonNullable<PreviewStatus['counts']>> = {}): NonNullable<PreviewStatus['counts']> => ({
  ...{ environments: 0, ready: 0, waiting: 0, expired: 0 },
  ...more,
})

/** Writes Previews as the operator would, in a namespace of the cluster. */
export const previewsIn = ({ kube, kubeconfig }: TestCluster, namespaceOf: () => string) => {
  const at = (name: string) => ({ name, namespace: namespaceOf() })
  return {
    at,
    run: (part: string, given: readonly string[] = [], env: Record<string, string> = {}): Promise<Outcome> =>
      berth(['preview', part, ...given, '-n', namespaceOf(), '--kubeconfig', kubeconfig], { env }),

    async preview(name: string, spec: Partial<Preview['spec']> = {}, status: PreviewStatus = {}): Promise<void> {
      await kube.create(Previews, {
        apiVersion: 'berth.dev/v1alpha1',
        kind: Previews.kind,
        metadata: at(name),
        spec: {
          ...{ branches: { project: 'web' }, deploymentTargetClassName: 'spaces', timeToLive: '72h' },
          ...{ template: { spec: { source: { path: 'deploy' } } } },
          ...spec,
        },
      })
      await kube.patch(Previews, at(name), { status }, { subresource: 'status' })
    },

    tell: (name: string, status: PreviewStatus) => kube.patch(Previews, at(name), { status }, { subresource: 'status' }),

    environment: (preview: string, name: string, branch: string, annotations: Record<string, string> = {}) =>
      kube.create(
        Environments,
        environment(
          namespaceOf(),
          name,
          {},
          {
            labels: { 'berth.dev/preview': preview },
            annotations: { 'berth.dev/branch': branch, ...annotations },
          },
        ),
      ),

    async marksOf(name: string): Promise<Environment['metadata']['annotations']> {
      return (await kube.get(Environments, at(name)))?.metadata.annotations
    },
  }
}
