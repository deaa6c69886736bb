import type { Cache } from '../adapters/kube/index.ts'
import { byUid, indexBy, labels, type Service, type Workspace } from '../api/index.ts'
import type { Log } from '../std/index.ts'
import { routedWorkspaceOf, type WaysToPorts } from './routed-workspace.ts'
import type { Route, RoutedWorkspace, RouteTable } from './web/ports.ts'

const byWorkspace = indexBy(({ metadata }: Service) => [metadata.labels?.[labels.workspaceUid] ?? ''])

interface RouteSources extends WaysToPorts {
  workspaces: Cache<Workspace>
  /** Of the cluster in which the proxy runs. */
  services: Cache<Service>
  log: Log
}

/** Keeps the table of hosts: each change of a Workspace or of a Service of one changes it in its place, and nothing else of it. */
export function followRoutes({ workspaces, services, reach, tunnel, log }: RouteSources): RouteTable & { stop(): void } {
  const byHost = new Map<string, Route>()
  const known = new Map<string, RoutedWorkspace>()
  const listeners = new Set<(uid: string) => void>()

  const removeHosts = ({ uid, rules }: RoutedWorkspace, kept: ReadonlySet<string>) => {
    for (const { host } of rules.ports.values())
      if (!kept.has(host) && byHost.get(host)?.workspace.uid === uid) byHost.delete(host)
  }
  const addHosts = (workspace: RoutedWorkspace) => {
    for (const { host, port } of workspace.rules.ports.values()) {
      const other = byHost.get(host)?.workspace
      // The marks in hosts make this all but impossible; who was there first stays.
      if (other && other.uid !== workspace.uid) log.warn('Two workspaces claim a host', { host, workspace: workspace.ref.name })
      else byHost.set(host, { host, port, workspace })
    }
  }
  const look = (uid: string) => {
    if (uid === '') return
    const before = known.get(uid)
    const [workspace] = workspaces.by(byUid, uid)
    const now = workspace && routedWorkspaceOf(workspace, services.by(byWorkspace, uid), { reach, tunnel })
    if (before) removeHosts(before, new Set([...(now?.rules.ports.values() ?? [])].map(({ host }) => host)))
    if (now) {
      known.set(uid, now)
      addHosts(now)
    } else known.delete(uid)
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
    workspace: (uid) => known.get(uid),
    workspaces: () => known.values(),
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
