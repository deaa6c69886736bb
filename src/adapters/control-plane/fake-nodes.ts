import { applyAll } from './servers/kubectl.ts'
import { storageClass } from './storage.ts'

/** Nodes that kwok plays, and the storage class whose volumes its stages provide. */
export function createNodes(kubectl: string, kubeconfig: string, nodes: number): Promise<void> {
  const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`)
  const fake = storageClass({ provisioner: 'kwok.x-k8s.io/volume', volumeBindingMode: 'Immediate' })
  return applyAll(kubectl, kubeconfig, [fake, ...names.map(node)])
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
