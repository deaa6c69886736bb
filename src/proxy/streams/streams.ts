import { judge } from '../../engines/access/index.ts'
import { type Clock, seconds } from '../../std/index.ts'
import { type Guest, type Rights, ROLE_COUNTS, type Routes, type Sessions } from '../ports.ts'

/** A request or an upgraded connection that is not over. */
export interface OpenStream extends Guest {
  readonly uid: string
  readonly port: number
  /** What lets it in. */
  readonly as: string
  /** When it has to end if nothing changes, milliseconds since the epoch. */
  until: number
  /** Hangs up on both sides. */
  cut(): void
}

export interface Streams {
  /** The answer takes it out again. */
  enter(stream: OpenStream): () => void
  of(uid: string): Iterable<OpenStream>
  all(): Iterable<OpenStream>
  readonly size: number
  stop(): void
}

export interface StreamsDesk {
  routes: Pick<Routes, 'house' | 'onChange'>
  sessions: Pick<Sessions, 'holds' | 'onSignOut'>
  /** What the roles of the cluster say, where they count. */
  rights: Rights | undefined
  onCut: (why: 'changed' | 'signed-out' | 'over') => void
  clock: Clock
}

/** One look at all of them, in place of a timer for each. */
const SWEEP = seconds(1)

export function createStreams({ routes, sessions, rights, onCut, clock }: StreamsDesk): Streams {
  const byHouse = new Map<string, Set<OpenStream>>()
  let size = 0
  const all = () => [...byHouse.values()].flatMap((streams) => [...streams])

  const judgeAgain = (stream: OpenStream) => {
    const { uid, port, session, links, as } = stream
    const premises = routes.house(uid)?.premises
    const known = { port, person: session?.person, links, hasRole: as === 'role', now: clock.now() }
    const judgement = premises && judge({ premises, ...known })
    if (judgement?.may) {
      const ends = as === 'role' ? stream.until : judgement.until
      stream.until = Math.min(ends, session?.until ?? Number.POSITIVE_INFINITY)
      return
    }
    onCut('changed')
    stream.cut()
  }
  /** Whoever a role lets in stays for as long as it does. If nobody can tell, the time runs out. */
  const askAgain = async (stream: OpenStream, now: number) => {
    const { uid, session } = stream
    const house = routes.house(uid)
    if (!(house && session && rights)) return
    const may = await rights.mayOpen(session.person, house).catch(() => undefined)
    if (may) stream.until = Math.min(now + ROLE_COUNTS, session.until)
    if (may !== false) return
    onCut('changed')
    stream.cut()
  }
  const sweep = () => {
    const now = clock.now()
    for (const streams of byHouse.values())
      for (const stream of streams)
        if (stream.until <= now) {
          onCut('over')
          stream.cut()
        } else if (stream.as === 'role' && stream.until - now < ROLE_COUNTS * 0.7) void askAgain(stream, now)
    next.stop = clock.after(SWEEP, sweep)
  }
  const next = { stop: clock.after(SWEEP, sweep) }
  const stops = [
    routes.onChange((uid) => {
      for (const stream of [...(byHouse.get(uid) ?? [])]) judgeAgain(stream)
    }),
    sessions.onSignOut(() => {
      for (const stream of all()) {
        if (!stream.session || sessions.holds(stream.session)) continue
        onCut('signed-out')
        stream.cut()
      }
    }),
  ]
  return {
    enter(stream) {
      const streams = byHouse.get(stream.uid) ?? new Set()
      byHouse.set(stream.uid, streams)
      streams.add(stream)
      size++
      return () => {
        if (!streams.delete(stream)) return
        size--
        if (streams.size === 0 && byHouse.get(stream.uid) === streams) byHouse.delete(stream.uid)
      }
    },
    of: (uid) => byHouse.get(uid) ?? [],
    all,
    get size() {
      return size
    },
    stop() {
      next.stop()
      for (const stop of stops) stop()
    },
  }
}
