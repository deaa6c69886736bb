import { isIP } from 'node:net'
import type { Upstream } from '../adapters/http/index.ts'
import { annotations, type Service, type Workspace, workspaceObjectName } from '../api/index.ts'
import { accessRulesOf } from '../engines/access/index.ts'
import { defined, withoutEnd } from '../std/index.ts'
import type { RoutedWorkspace } from './web/ports.ts'

/** Ports of workspaces are reached by these. */
export interface WaysToPorts {
  /** Gives where a port of a Service really is, for those who run the proxy outside of a cluster. */
  reach?: ((upstream: Upstream, service: Service) => Upstream) | undefined
  /** Leads to the workspace of that UID, where its class has tunnels; `undefined`: no kas is known to ask. */
  tunnel?: ((workspace: string, port: number) => Upstream) | undefined
}

export function routedWorkspaceOf(workspace: Workspace, services: readonly Service[], ways: WaysToPorts): RoutedWorkspace {
  const { metadata, spec, status } = workspace
  const rules = accessRulesOf(workspace)
  const timeIn = (key: string): number => Date.parse(metadata.annotations?.[key] ?? '') || 0
  const { actualState, step, failure, willStartAt, stoppedBecause } = status ?? {}
  return {
    uid: metadata.uid ?? '',
    ref: { name: metadata.name, namespace: metadata.namespace ?? '' },
    rules,
    sshKeys: new Set((spec.sshKeys ?? []).map(blobOf)),
    // It lives as long as a connection, and the status of a workspace may hold its devfile.
    status: defined({ actualState, step, failure, willStartAt, stoppedBecause }),
    isWanted: (spec.desiredState ?? 'Running') !== 'Stopped',
    isWatched: (status?.class?.settings?.idle?.stopAfterMinutes ?? 0) > 0,
    terminal:
      status?.class?.settings?.editor?.preset === 'Terminal'
        ? [...rules.ports.values()].find(({ isShell }) => isShell)?.port
        : undefined,
    lastActivity: timeIn(annotations.lastActivity),
    watchedAt: timeIn(annotations.activityWatched),
    upstreams:
      status?.class?.settings?.proxy?.wayIn === 'Tunnel'
        ? throughTunnels(workspace, [...rules.ports.keys()], ways)
        : throughServices(workspace, services, ways),
  }
}

/** However it was written: bits beyond the last byte, or an end without its mark. */
const blobOf = (line: string): string => Buffer.from(line.split(' ')[1] ?? '', 'base64').toString('base64')

/** A Service leads nowhere then: the network policy lets nobody in, or it lies in another cluster. */
function throughTunnels({ metadata: { uid } }: Workspace, ports: number[], { tunnel }: WaysToPorts): Map<number, Upstream> {
  return new Map(tunnel && uid ? ports.map((port) => [port, tunnel(uid, port)]) : [])
}

function throughServices(workspace: Workspace, services: readonly Service[], { reach }: WaysToPorts) {
  const found = new Map<number, Upstream>()
  for (const service of services) {
    const address = service.spec?.clusterIP
    if (!(isOurs(workspace, service) && address) || isIP(address) === 0) continue
    for (const { port, protocol } of service.spec?.ports ?? [])
      if (protocol !== 'UDP' && !found.has(port))
        found.set(port, reach?.({ host: address, port }, service) ?? { host: address, port })
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
/** A name is cut to this where a mark comes behind it: names of Services have at most 63 characters. */
const BESIDE = 63 - MARK.length

/** The main pod's, or one of a pod beside it, which has a mark at its end. */
const isNameOf = (name: string, given: string): boolean =>
  given === name || (/-pod-[0-9a-f]{8}$/.test(given) && given.slice(0, -MARK.length) === withoutEnd(name.slice(0, BESIDE), '-'))
