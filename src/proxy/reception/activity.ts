import type { UpgradedConnection } from '../../adapters/http/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import { annotations, Workspaces } from '../../api/index.ts'
import { type Clock, every, Failure, isFailure, type Log, minutes, timestamp } from '../../std/index.ts'
import type { Route, RoutedWorkspace, RouteTable } from '../web/ports.ts'

export type Activity = ReturnType<typeof createActivity>

const ROUND = minutes(1)
/** The operator believes what was looked at within ten minutes. */
const WATCHED_EVERY = minutes(4)
/** A visitor sends more than this in a minute by the keyboard: pings of an editor's connections stay below. */
const IDLE_BYTES = 2048
/** A terminal sends what is typed, a few bytes for a key, and a few bytes for each of two pings a minute. */
const IDLE_BYTES_OF_TERMINAL = 64

/**
 * Tells each Workspace at most once a minute when somebody last used it: by that, idle ones are stopped. Requests are use; so are
 * bytes on upgraded connections, beyond those by which editors keep them alive.
 */
export function createActivity(kube: Kube, routes: Pick<RouteTable, 'workspace' | 'workspaces'>, clock: Clock, log: Log) {
  /** By UID, while it is not written yet: when, and how, in the words of the annotation. */
  const uses = new Map<string, { at: number; by: 'Requests' | 'Connection' }>()
  const lines = new Set<{ uid: string; line: UpgradedConnection; seen: number; idle: number }>()

  const listen = () => {
    for (const watch of lines) {
      const now = watch.line.received()
      if (now - watch.seen > watch.idle) uses.set(watch.uid, { at: clock.now(), by: 'Connection' })
      watch.seen = now
    }
  }
  const write = async (workspace: RoutedWorkspace) => {
    const used = uses.get(workspace.uid)
    const now = clock.now()
    const isNews = used !== undefined && used.at - workspace.lastActivity >= ROUND
    const isDue = workspace.isWatched && workspace.status.actualState === 'Running' && now - workspace.watchedAt >= WATCHED_EVERY
    if (!(isNews || isDue)) return
    const said = {
      ...(used !== undefined &&
        used.at > workspace.lastActivity && {
          [annotations.lastActivity]: timestamp(used.at),
          [annotations.lastActivityBy]: used.by,
        }),
      ...(workspace.isWatched && { [annotations.activityWatched]: timestamp(now) }),
    }
    try {
      await kube.patch(Workspaces, workspace.ref, { metadata: { uid: workspace.uid, annotations: said } })
      if (uses.get(workspace.uid) === used) uses.delete(workspace.uid)
    } catch (thrown) {
      // Gone meanwhile, or another of its name.
      if (isFailure(thrown, 'not-found', 'conflict')) uses.delete(workspace.uid)
      else log.warn('The use of a workspace could not be written', { workspace: workspace.ref.name, error: Failure.from(thrown) })
    }
  }
  const tell = async () => {
    listen()
    for (const uid of uses.keys()) if (!routes.workspace(uid)) uses.delete(uid)
    for (const workspace of [...routes.workspaces()]) await write(workspace)
  }
  const stopTelling = every(clock, ROUND, tell)
  return {
    used: ({ uid }: RoutedWorkspace) => void uses.set(uid, { at: clock.now(), by: 'Requests' }),
    lineOpened({ workspace: { uid, terminal }, port }: Route, line: UpgradedConnection) {
      const watch = { uid, line, seen: line.received(), idle: port === terminal ? IDLE_BYTES_OF_TERMINAL : IDLE_BYTES }
      lines.add(watch)
      void line.closed.then(() => lines.delete(watch))
    },
    /** Writes what is known, and ends. */
    async stop() {
      await stopTelling()
      await tell()
    },
  }
}
