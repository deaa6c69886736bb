import type { Upstream } from '../../adapters/http/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import { byUid, indexBy, labels, type Service, type Workspace } from '../../api/index.ts'
import type { Log } from '../../std/index.ts'
import type { House, Route, Routes } from '../ports.ts'
import { houseOf } from './house.ts'

const byWorkspace = indexBy(({ metadata }: Service) => [metadata.labels?.[labels.workspaceUid] ?? ''])

export interface Sources {
  workspaces: Cache<Workspace>
  /** Of the cluster in which the proxy runs. */
  services: Cache<Service>
  /** Where a port of a Service is really reached; for those who run the proxy outside of a cluster. */
  reach?: ((upstream: Upstream, service: Service) => Upstream) | undefined
  /** A port of the workspace of that UID, through the tunnels of its pod. */
  tunnel?: ((workspace: string, port: number) => Upstream) | undefined
  log: Log
}

/** A table that each change of a Workspace or of a Service of one changes in its place; nothing else is touched by it. */
export function discover({
  workspaces,
  services,
  reach = (upstream) => upstream,
  tunnel,
  log,
}: Sources): Routes & { stop(): void } {
  const byHost = new Map<string, Route>()
  const houses = new Map<string, House>()
  const listeners = new Set<(uid: string) => void>()

  const leave = (house: House, hosts: ReadonlySet<string>) => {
    for (const { host } of house.premises.ports.values())
      if (!hosts.has(host) && byHost.get(host)?.house.uid === house.uid) byHost.delete(host)
  }
  const enter = (house: House) => {
    for (const { host, port } of house.premises.ports.values()) {
      const other = byHost.get(host)?.house
      // The marks in hosts make this all but impossible; who was there first stays.
      if (other && other.uid !== house.uid) log.warn('Two workspaces claim a host', { host, workspace: house.workspace.name })
      else byHost.set(host, { host, port, house })
    }
  }
  const look = (uid: string) => {
    if (uid === '') return
    const before = houses.get(uid)
    const [workspace] = workspaces.by(byUid, uid)
    const house = workspace && houseOf(workspace, services.by(byWorkspace, uid), { reach, tunnel })
    if (before) leave(before, new Set([...(house?.premises.ports.values() ?? [])].map(({ host }) => host)))
    if (house) {
      houses.set(uid, house)
      enter(house)
    } else houses.delete(uid)
    for (const listener of listeners) listener(uid)
  }

  for (const { metadata } of workspaces.all()) look(metadata.uid ?? '')
  const stops = [
    workspaces.onChange((now, before) => {
      // One of the same name may be another.
      if (before && before.metadata.uid !== now?.metadata.uid) look(before.metadata.uid ?? '')
      if (now) look(now.metadata.uid ?? '')
    }),
    services.onChange((now, before) => {
      const uids = new Set([before, now].flatMap((service) => (service ? byWorkspace.of(service) : [])))
      for (const uid of uids) look(uid)
    }),
  ]
  return {
    at: (host) => byHost.get(host) ?? byHost.get(host.replace(/:\d+$/, '')),
    house: (uid) => houses.get(uid),
    houses: () => houses.values(),
    get size() {
      return byHost.size
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop() {
      for (const stop of stops) stop()
    },
  }
}
