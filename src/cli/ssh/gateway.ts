import type { Kube } from '../../adapters/kube/index.ts'
import { ConfigMaps, SSH_GATEWAY } from '../../api/index.ts'
import { Failure, hours } from '../../std/index.ts'
import { isHost, isHostKey } from './entry.ts'

/** The way in over SSH, as the proxies say it themselves: nobody else may write that, as some may write a status. */
export interface Gateway {
  host: string
  port: number
  hostKey: string
  /** How long certificates count there at most, milliseconds. */
  longest: number
}

/** Throws what there is to do where there is none, or where it gives no certificates: before anything is shown to it. */
export async function gatewayOf(kube: Kube, namespace: string): Promise<Gateway> {
  const object = `ConfigMap ${namespace}/${SSH_GATEWAY}`
  const map = await kube.get(ConfigMaps, { name: SSH_GATEWAY, namespace })
  const { host, port, hostKey, certificateHours } = map?.data ?? {}
  if (host === undefined || hostKey === undefined)
    throw new Failure('not-found', map ? 'the proxy says no address for SSH there' : 'it is not there: no proxy takes SSH', {
      object,
      remedy:
        'The proxy takes SSH with proxy.ssh and proxy.sshAddress among the values (docs/proxy.md#ssh); name the namespace of another Berth with --berth-namespace.',
    })
  if (certificateHours === undefined)
    throw new Failure('not-found', `the proxy at ${host} gives no certificates`, {
      remedy:
        'It does with proxy.sshCertificatesFor among the values (docs/proxy.md#ssh). Put a key into spec.sshKeys otherwise.',
    })
  const [number, longest] = [Number(port), hours(Number(certificateHours))]
  const isFit = Number.isInteger(number) && number > 0 && number < 65_536 && longest > 0 && Number.isFinite(longest)
  if (!isFit || !isHost(host) || !isHostKey(hostKey))
    throw new Failure('invalid', 'it does not say host, port, hostKey and certificateHours as the proxy does', {
      object,
      remedy: 'Restart the proxy, which writes them.',
    })
  return { host, port: number, hostKey, longest }
}
