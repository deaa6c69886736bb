import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { takeFolder } from './folder.ts'

/** What lies where in the folder of a control plane. Servers run in the folder, so that socket paths stay short. */
export interface Layout {
  dir: string
  /** Written when the control plane has been ready for the first time, as is the authority. */
  kubeconfig: string
  /** Of etcd. */
  data: string
  state: string
  logs: string
  certificates: string
  certificate: string
  certificateKey: string
  authority: string
  tokens: string
  serviceAccountKey: string
  serviceAccountPublicKey: string
}

export function layoutOf(dir: string): Layout {
  const at = (name: string) => join(dir, name)
  return {
    dir,
    kubeconfig: at('kubeconfig'),
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
  }
}

export function ensureFolders(dir: string): Layout {
  const layout = layoutOf(takeFolder(dir))
  for (const folder of [layout.logs, layout.certificates]) mkdirSync(folder, { recursive: true })
  return layout
}
