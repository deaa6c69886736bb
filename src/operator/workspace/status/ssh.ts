import type { Cache } from '../../../adapters/kube/index.ts'
import {
  type ConfigMap,
  ConfigMaps,
  type Ref,
  refOf,
  SSH_GATEWAY,
  type Workspace,
  type WorkspaceStatus,
} from '../../../api/index.ts'
import type { Watch } from '../../../engines/controller/index.ts'

/** The way into workspaces over SSH, as the proxies say it. */
export type SshGateway = Pick<NonNullable<WorkspaceStatus['ssh']>, 'host' | 'port' | 'hostKeys'>

/** By name: it is one object, and nobody else's ConfigMaps are read. */
export const gatewayScope = (namespace: string) => ({ namespace, fields: `metadata.name=${SSH_GATEWAY}` })

/** Nobody is let in without it, or where it is not known how people find it. */
export const createGatewayLookup = (maps: Pick<Cache<ConfigMap>, 'get'>, namespace: string) => (): SshGateway | undefined =>
  gatewayIn(maps.get({ name: SSH_GATEWAY, namespace }))

/** All workspaces say how they are reached: another key wakes them all, and another word in the object nobody. */
export function watchGateway(namespace: string, find: () => SshGateway | undefined, all: () => Iterable<Workspace>): Watch {
  const known = { text: '' }
  const wakes = (): Ref[] => {
    const text = JSON.stringify(find() ?? '')
    if (text === known.text) return []
    known.text = text
    return [...all()].map(refOf)
  }
  return { kind: ConfigMaps, ...gatewayScope(namespace), wakes }
}

/** As the schema of the status has them: a status with others could not be written at all. */
const HOST = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
const HOST_KEY = /^ssh-ed25519 [A-Za-z0-9+/]{40,1000}={0,2}$/

/** Pure. What is not written as the proxies write it counts as nothing. */
export function gatewayIn(map: ConfigMap | undefined): SshGateway | undefined {
  const { host = '', port = '', hostKey = '' } = map?.data ?? {}
  const isFit = HOST.test(host) && /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536 && HOST_KEY.test(hostKey)
  return isFit ? { host, port: Number(port), hostKeys: [hostKey] } : undefined
}

/** Pure. Absent where the class lets nobody in so. */
export function sshOf({ metadata, status }: Workspace, gateway: SshGateway | undefined, settings = status?.class?.settings) {
  if (!gateway || !settings || settings.proxy?.sshEnabled === false) return
  return { user: `${metadata.name}.${metadata.namespace}`, ...gateway }
}
