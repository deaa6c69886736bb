import { isIP } from 'node:net'
import type { Upstream } from '../../adapters/http/index.ts'
import { annotations, type Service, type Workspace, workspaceObjectName } from '../../api/index.ts'
import { premisesOf } from '../../engines/access/index.ts'
import { withoutEnd } from '../../std/index.ts'
import type { House } from '../ports.ts'

/** How ports of workspaces are reached. */
export interface Ways {
  /** Where a port of a Service really is. */
  reach: (upstream: Upstream, service: Service) => Upstream
  /** Of the workspace of that UID, where its class has tunnels; `undefined`: no kas is known to ask. */
  tunnel: ((workspace: string, port: number) => Upstream) | undefined
}

export function houseOf(workspace: Workspace, services: readonly Service[], ways: Ways): House {
  const { metadata, spec, status } = workspace
  const premises = premisesOf(workspace)
  const timeIn = (key: string): number => Date.parse(metadata.annotations?.[key] ?? '') || 0
  return {
    uid: metadata.uid ?? '',
    workspace: { name: metadata.name, namespace: metadata.namespace ?? '' },
    premises,
    status: {
      ...(status?.actualState && { actualState: status.actualState }),
      ...(status?.step && { step: status.step }),
      ...(status?.failure && { failure: status.failure }),
      ...(status?.willStartAt && { willStartAt: status.willStartAt }),
      ...(status?.stoppedBecause && { stoppedBecause: status.stoppedBecause }),
    },
    isWanted: (spec.desiredState ?? 'Running') !== 'Stopped',
    isWatched: (status?.class?.settings?.idle?.stopAfterMinutes ?? 0) > 0,
    lastActivity: timeIn(annotations.lastActivity),
    watchedAt: timeIn(annotations.activityWatched),
    upstreams:
      status?.class?.settings?.proxy?.wayIn === 'Tunnel'
        ? throughTunnels(workspace, premises, ways)
        : throughServices(workspace, services, ways),
  }
}

/** A Service leads nowhere then: the network policy lets nobody in, or it lies in another cluster. */
function throughTunnels({ metadata }: Workspace, { ports }: House['premises'], { tunnel }: Ways): House['upstreams'] {
  const { uid } = metadata
  if (!(tunnel && uid)) return new Map()
  return new Map([...ports.keys()].map((port) => [port, tunnel(uid, port)]))
}

function throughServices(workspace: Workspace, services: readonly Service[], { reach }: Ways): House['upstreams'] {
  const found = new Map<number, Upstream>()
  for (const service of services) {
    const address = service.spec?.clusterIP
    if (!(isOurs(workspace, service) && address) || isIP(address) === 0) continue
    for (const { port, protocol } of service.spec?.ports ?? [])
      if (protocol !== 'UDP' && !found.has(port)) found.set(port, reach({ host: address, port }, service))
  }
  return found
}

/**
 * Labels are written by anybody who may make a Service, and one that leads elsewhere would get what people type. So it has to lie
 * where the operator made it, under the name that the operator gave, and be of the type that leads to pods.
 */
function isOurs(workspace: Workspace, { metadata, spec }: Service): boolean {
  return (
    metadata.namespace === workspace.status?.target?.namespace &&
    isNameOf(workspaceObjectName(workspace), metadata.name) &&
    (spec?.type ?? 'ClusterIP') === 'ClusterIP'
  )
}

const MARK = '-pod-01234567'
/** What is left of a name where a mark comes behind it: names of Services have at most 63 characters. */
const BESIDE = 63 - MARK.length

/** The main pod's, or one of a pod beside it, which has a mark at its end. */
const isNameOf = (name: string, given: string): boolean =>
  given === name || (/-pod-[0-9a-f]{8}$/.test(given) && given.slice(0, -MARK.length) === withoutEnd(name.slice(0, BESIDE), '-'))
