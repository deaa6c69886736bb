import { judgeAccess, type Way } from '../../engines/access/index.ts'
import { type Clock, createTally, every, networkOf, seconds } from '../../std/index.ts'
import { type MayOpen, type RequestCredentials, ROLE_COUNTS, type RouteTable, type Sessions } from '../web/ports.ts'

/** A request, an upgraded connection or one of SSH that is not over. */
export interface OpenStream extends RequestCredentials {
  readonly uid: string
  readonly port: Way
  /** Address of a visitor who may not have signed in. */
  readonly from?: string
  /** As what the visitor is let in. */
  readonly as: string
  /** When it has to end if nothing changes, milliseconds since the epoch. */
  until: number
  /** Whether what somebody has shown lets in still, where that is no session. */
  holds?(): boolean
  /** Hangs up on both sides. */
  cut(): void
}

/**
 * Of one visitor at once: each holds what is on its way in either direction, and a connection of HTTP/2 has more than a hundred of them.
 * Those who have not signed in, at public ports, are counted by their network, and by the namespace that opened these to them.
 */
const MOST_EACH = 1000

type Visitor = Pick<OpenStream, 'uid' | 'session' | 'from'>

/** One look at all of them, in place of a timer for each. */
const SWEEP = seconds(1)

interface StreamSources {
  routes: Pick<RouteTable, 'workspace' | 'onChange'>
  sessions: Pick<Sessions, 'holds' | 'onSignOut'>
  /** Asks the roles of the cluster, where they count. */
  mayOpen: MayOpen | undefined
  /** Tells in which namespaces roles may be others now. */
  onRoles: ((listener: (isTouched: (namespace: string) => boolean) => void) => () => void) | undefined
  clock: Clock
}

/** Judges all that is under way again whenever a Workspace, somebody's sessions or the time changes, and cuts what may no longer be. */
export function createStreams(
  { routes, sessions, mayOpen, onRoles, clock }: StreamSources,
  onCut: (why: 'changed' | 'signed-out' | 'over') => void,
) {
  const byWorkspace = new Map<string, Set<OpenStream>>()
  const tally = createTally()
  const payerOf = ({ uid, session, from = '' }: Visitor): string =>
    session ? `user ${session.person.user}` : `${networkOf(from)} in ${routes.workspace(uid)?.ref.namespace}`
  const all = () => [...byWorkspace.values()].flatMap((streams) => [...streams])

  const cut = (stream: OpenStream, why: Parameters<typeof onCut>[0]) => {
    onCut(why)
    stream.cut()
  }
  const judgeAgain = (stream: OpenStream) => {
    const { uid, port, session, links, as } = stream
    const rules = routes.workspace(uid)?.rules
    const known = { port, person: session?.person, links, hasRole: as === 'role', now: clock.now() }
    const judgement = rules && judgeAccess({ rules, ...known })
    if (!judgement?.may || stream.holds?.() === false) return cut(stream, 'changed')
    const ends = as === 'role' ? stream.until : judgement.until
    stream.until = Math.min(ends, session?.until ?? Number.POSITIVE_INFINITY)
  }
  /** A role lets somebody stay for as long as it does. If nobody can tell, the time runs out. */
  const askAgain = async (stream: OpenStream, now: number) => {
    const { uid, session } = stream
    const workspace = routes.workspace(uid)
    if (!(workspace && session && mayOpen)) return
    const may = await mayOpen(session.person, workspace).catch(() => undefined)
    if (may) stream.until = Math.min(now + ROLE_COUNTS, session.until)
    if (may === false) cut(stream, 'changed')
  }
  const sweep = () => {
    const now = clock.now()
    for (const streams of byWorkspace.values())
      for (const stream of streams)
        if (stream.until <= now) cut(stream, 'over')
        else if (stream.holds?.() === false) cut(stream, 'changed')
        else if (stream.as === 'role' && stream.until - now < ROLE_COUNTS * 0.7) void askAgain(stream, now)
  }
  const stops = [
    every(clock, SWEEP, sweep),
    onRoles?.((isTouched) => {
      const now = clock.now()
      for (const stream of all())
        if (stream.as === 'role' && isTouched(routes.workspace(stream.uid)?.ref.namespace ?? '')) void askAgain(stream, now)
    }),
    routes.onChange((uid) => {
      for (const stream of [...(byWorkspace.get(uid) ?? [])]) judgeAgain(stream)
    }),
    sessions.onSignOut(() => {
      for (const stream of all()) if (stream.session && !sessions.holds(stream.session)) cut(stream, 'signed-out')
    }),
  ]
  return {
    /** Whether this visitor has as much under way as one may have. */
    isFull: (visitor: Visitor): boolean => tally.of(payerOf(visitor)) >= MOST_EACH,
    /** The answer takes it out again. */
    enter(stream: OpenStream): () => void {
      const streams = byWorkspace.get(stream.uid) ?? new Set()
      byWorkspace.set(stream.uid, streams)
      streams.add(stream)
      const payer = payerOf(stream)
      tally.add(payer, 1)
      return () => {
        if (!streams.delete(stream)) return
        tally.add(payer, -1)
        if (streams.size === 0 && byWorkspace.get(stream.uid) === streams) byWorkspace.delete(stream.uid)
      }
    },
    all,
    get size() {
      return tally.sum
    },
    stop() {
      for (const stop of stops) void stop?.()
    },
  }
}
