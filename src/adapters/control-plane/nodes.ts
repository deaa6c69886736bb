import { dirname, join } from 'node:path'
import { run } from './run.ts'

/** Fake nodes, and the storage class whose volumes the stages provide. */
export async function createNodes(kubectl: string, kubeconfig: string, nodes: number): Promise<void> {
  const items = [storageClass, ...Array.from({ length: nodes }, (_, index) => node(`node-${index + 1}`))]
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  // Its cache of discovery belongs to the cluster, not to whoever starts it.
  const cache = join(dirname(kubeconfig), 'kubectl-cache')
  await run(
    kubectl,
    ['--kubeconfig', kubeconfig, '--cache-dir', cache, 'apply', '--server-side', '--validate=false', '-f', '-'],
    { env: {}, input },
  )
}

const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  },
})

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kwok.x-k8s.io/volume',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
}
