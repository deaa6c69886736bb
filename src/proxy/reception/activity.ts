import type { Kube } from '../../adapters/kube/index.ts'
import { annotations, Workspaces } from '../../api/index.ts'
import { type Clock, every, Failure, isFailure, type Log, minutes, timestamp } from '../../std/index.ts'
import type { Route, RoutedWorkspace, RouteTable } from '../web/ports.ts'

export type Activity = ReturnType<typeof createActivity>

type KindOfUse = 'Requests' | 'Connection' | 'SSH'

/** A connection that is open for as long as somebody works. */
interface OpenLine {
  /** Bytes that the visitor has sent. */
  received(): number
  closed: Promise<void>
}

const ROUND = minutes(1)
/** The operator believes what was looked at within ten minutes. */
const WATCHED_EVERY = minutes(4)
/** A visitor sends more than this in a minute by the keyboard: pings of an editor's connections stay below. */
const IDLE_BYTES = 2048
/** A terminal sends what is typed, a few bytes for a key, and a few bytes for each of two pings a minute. */
const IDLE_BYTES_OF_TERMINAL = 64

/**
 * Tells each Workspace at most once a minute when somebody last used it: by that, idle ones are stopped. Requests are use; so are
 * bytes on upgraded connections and those of SSH, beyond those by which editors keep them alive.
 */
export function createActivity(kube: Kube, routes: Pick<RouteTable, 'workspace' | 'workspaces'>, clock: Clock, log: Log) {
  /** By UID, while it is not written yet: when, and how, in the words of the annotation. */
  const uses = new Map<string, { at: number; by: KindOfUse }>()
  const lines = new Set<{ uid: string; line: OpenLine; seen: number; idle: number; by: KindOfUse }>()

  const listen = () => {
    for (const watched of lines) {
      const now = watched.line.received()
      if (now - watched.seen > watched.idle) uses.set(watched.uid, { at: clock.now(), by: watched.by })
      watched.seen = now
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
  const watch = (opened: { uid: string; line: OpenLine; idle: number; by: KindOfUse }) => {
    const watched = { ...opened, seen: opened.line.received() }
    lines.add(watched)
    void opened.line.closed.then(() => lines.delete(watched))
  }
  const stopTelling = every(clock, ROUND, tell)
  return {
    used: ({ uid }: RoutedWorkspace, by: KindOfUse = 'Requests') => void uses.set(uid, { at: clock.now(), by }),
    lineOpened({ workspace: { uid, terminal }, port }: Pick<Route, 'workspace' | 'port'>, line: OpenLine) {
      watch({ uid, line, idle: port === terminal ? IDLE_BYTES_OF_TERMINAL : IDLE_BYTES, by: 'Connection' })
    },
    /** Of a terminal each byte was typed; programs talk to one another on their own. */
    sshOpened({ uid }: RoutedWorkspace, line: OpenLine, isTerminal: boolean) {
      watch({ uid, line, idle: isTerminal ? 0 : IDLE_BYTES, by: 'SSH' })
    },
    /** Writes what is known, and ends. */
    async stop() {
      await stopTelling()
      await tell()
    },
  }
}
