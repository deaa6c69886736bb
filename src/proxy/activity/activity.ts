import type { Line } from '../../adapters/http/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import { annotations, Workspaces } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, minutes, timestamp } from '../../std/index.ts'
import type { House, Routes } from '../ports.ts'

/** Requests are use; so are bytes on upgraded connections, beyond those by which editors keep them alive. */
export interface Activity {
  used(house: House): void
  lineOpened(house: House, line: Line): void
  /** Writes what is known, and ends. */
  stop(): Promise<void>
}

export interface ActivityDesk {
  kube: Kube
  routes: Pick<Routes, 'house' | 'houses'>
  clock: Clock
  log: Log
}

const ROUND = minutes(1)
/** The operator believes what was looked at within ten minutes. */
const WATCHED_EVERY = minutes(4)
/** What a visitor sends in a minute while nobody touches the keyboard: pings of an editor's connections stay below. */
const IDLE_BYTES = 2048

/** When, milliseconds since the epoch, and how, in the words of the annotation. */
interface Use {
  at: number
  by: 'Requests' | 'Connection'
}

interface Watch {
  uid: string
  line: Line
  seen: number
}

export function createActivity({ kube, routes, clock, log }: ActivityDesk): Activity {
  /** By UID; only what is not written yet. */
  const uses = new Map<string, Use>()
  const lines = new Set<Watch>()

  const listen = () => {
    for (const watch of lines) {
      const now = watch.line.received()
      if (now - watch.seen > IDLE_BYTES) uses.set(watch.uid, { at: clock.now(), by: 'Connection' })
      watch.seen = now
    }
  }
  const write = async (house: House, used: Use | undefined) => {
    const now = clock.now()
    const isNews = used !== undefined && used.at - house.lastActivity >= ROUND
    const isDue = house.isWatched && house.status.actualState === 'Running' && now - house.watchedAt >= WATCHED_EVERY
    if (!(isNews || isDue)) return
    const said = {
      ...(used !== undefined &&
        used.at > house.lastActivity && {
          [annotations.lastActivity]: timestamp(used.at),
          [annotations.lastActivityBy]: used.by,
        }),
      ...(house.isWatched && { [annotations.activityWatched]: timestamp(now) }),
    }
    try {
      await kube.patch(Workspaces, house.workspace, { metadata: { uid: house.uid, annotations: said } })
      if (uses.get(house.uid) === used) uses.delete(house.uid)
    } catch (thrown) {
      // Gone meanwhile, or another of its name.
      if (isFailure(thrown, 'not-found', 'conflict')) uses.delete(house.uid)
      else
        log.warn('The use of a workspace could not be written', { workspace: house.workspace.name, error: Failure.from(thrown) })
    }
  }
  const tell = async () => {
    listen()
    for (const uid of uses.keys()) if (!routes.house(uid)) uses.delete(uid)
    for (const house of [...routes.houses()]) await write(house, uses.get(house.uid))
  }
  const round: { done: Promise<void>; stop: () => void } = { done: Promise.resolve(), stop: () => undefined }
  const again = () => {
    round.stop = clock.after(ROUND, () => {
      round.done = tell().finally(again)
    })
  }
  again()
  return {
    used: ({ uid }) => void uses.set(uid, { at: clock.now(), by: 'Requests' }),
    lineOpened({ uid }, line) {
      const watch = { uid, line, seen: line.received() }
      lines.add(watch)
      void line.closed.then(() => lines.delete(watch))
    },
    async stop() {
      await round.done
      round.stop()
      await tell()
    },
  }
}
