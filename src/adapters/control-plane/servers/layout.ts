import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { takeFolder } from './folder.ts'

export type Layout = ReturnType<typeof layoutOf>

/** The files in the folder of a control plane. Servers run in the folder, so that socket paths stay short. */
export function layoutOf(dir: string) {
  const at = (name: string) => join(dir, name)
  return {
    dir,
    /** Written when the control plane has been ready for the first time, as is the authority. */
    kubeconfig: at('kubeconfig'),
    /** Of etcd. */
    data: at('etcd'),
    state: at('control-plane.json'),
    logs: at('logs'),
    certificates: at('certificates'),
    certificate: at('certificates/apiserver.crt'),
    certificateKey: at('certificates/apiserver.key'),
    authority: at('certificates/authority.crt'),
    tokens: at('tokens.csv'),
    serviceAccountKey: at('service-account.key'),
    serviceAccountPublicKey: at('service-account.pub'),
    /** Of the API server and the kubelet of a node of ours. */
    kubeletAuthority: at('certificates/kubelet-authority.crt'),
    kubeletClient: { certificate: at('certificates/kubelet-client.crt'), certificateKey: at('certificates/kubelet-client.key') },
    /** All of a node of ours: its files, its images, its logs. */
    node: at('node'),
  }
}

export function ensureFolders(dir: string): Layout {
  const layout = layoutOf(takeFolder(dir))
  mkdirSync(layout.logs, { recursive: true })
  return layout
}
