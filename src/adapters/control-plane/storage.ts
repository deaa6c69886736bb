import { applyAll } from './servers/kubectl.ts'

/** The storage class of a node of ours: its volumes are folders on the node (hack/node/helpers/storage). */
export const createLocalStorage = (kubectl: string, kubeconfig: string): Promise<void> =>
  applyAll(kubectl, kubeconfig, [storageClass({ provisioner: 'local.berth.dev', volumeBindingMode: 'WaitForFirstConsumer' })])

export const storageClass = (how: { provisioner: string; volumeBindingMode: string }) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  reclaimPolicy: 'Delete',
  ...how,
})
