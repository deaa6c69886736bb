import { run } from './run.ts'

/** Fake nodes, and the storage class whose volumes the stages provide. */
export async function furnish(kubectl: string, kubeconfig: string, nodes: number): Promise<void> {
  const items = [storageClass, ...Array.from({ length: nodes }, (_, index) => node(`node-${index + 1}`))]
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  // Caches of discovery belong into no one's home folder; an empty environment has none.
  await run(kubectl, ['--kubeconfig', kubeconfig, 'apply', '--server-side', '--validate=false', '-f', '-'], { env: {}, input })
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
