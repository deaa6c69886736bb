import { dirname, join } from 'node:path'
import { run } from './run.ts'

/** Fake nodes, and the storage class whose volumes the stages provide. */
export function createNodes(kubectl: string, kubeconfig: string, nodes: number): Promise<void> {
  const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`)
  const fake = storageClass({ provisioner: 'kwok.x-k8s.io/volume', volumeBindingMode: 'Immediate' })
  return apply(kubectl, kubeconfig, [fake, ...names.map(node)])
}

/** The storage class of a node of ours: its volumes are folders on the node (hack/node/helpers/storage). */
export const createLocalStorage = (kubectl: string, kubeconfig: string): Promise<void> =>
  apply(kubectl, kubeconfig, [storageClass({ provisioner: 'local.berth.dev', volumeBindingMode: 'WaitForFirstConsumer' })])

async function apply(kubectl: string, kubeconfig: string, items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await callKubectl(kubectl, kubeconfig, ['apply', '--server-side', '--validate=false', '-f', '-'], input)
}

export const callKubectl = (kubectl: string, kubeconfig: string, parameters: string[], input?: string): Promise<string> =>
  // Its cache of discovery belongs to the cluster, not to whoever starts it.
  run(kubectl, ['--kubeconfig', kubeconfig, '--cache-dir', join(dirname(kubeconfig), 'kubectl-cache'), ...parameters], {
    env: {},
    ...(input !== undefined && { input }),
  })

const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  },
})

const storageClass = (how: { provisioner: string; volumeBindingMode: string }) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  reclaimPolicy: 'Delete',
  ...how,
})
