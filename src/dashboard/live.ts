import { type Clock, every, Failure, type Log, minutes, seconds } from '../std/index.ts'
import { markupOf } from './html.ts'
import { HEADERS } from './page.ts'
import type { LiveAnswer, Reply, SignedInUser } from './ports.ts'
import type { Fragment, LiveView } from './view.ts'

export type Live = ReturnType<typeof createLive>

/** Changes that come together are shown together. */
const TOGETHER = 100
/** Something is sent now and then, so that whatever lies between keeps the connection. */
const HEARTBEAT = seconds(20)
/** No watch tells of rights that were given by another authorizer, so it is looked again. */
const LOOK = minutes(1)
/** Bytes that a browser has not taken yet. One that is so slow begins anew. */
const MOST_BYTES = 2 ** 20
/** A browser that does not read does not take the last words either. */
const LEAVES_WITHIN = seconds(5)
const MOST_EACH = 20
const MOST = 5000

export function createLive({ clock, log }: { clock: Clock; log: Log }) {
  const byUser = new Map<string, Set<() => void>>()
  let size = 0

  const enter = ({ person }: SignedInUser, close: () => void): (() => void) => {
    const own = byUser.get(person.user) ?? new Set()
    byUser.set(person.user, own.add(close))
    size++
    // Somebody who opens one more has forgotten the first.
    const [oldest] = own
    if (own.size > MOST_EACH) oldest?.()
    return () => {
      if (!own.delete(close)) return
      size--
      if (own.size === 0) byUser.delete(person.user)
    }
  }
  return {
    get size() {
      return size
    },
    /** Sends the view as it is, then each fragment that has changed, until somebody leaves or may no longer. */
    follow(user: SignedInUser, view: LiveView): Reply {
      if (size >= MOST) return { status: 503, headers: { ...HEADERS, 'retry-after': '30' }, body: 'Too many look at once.\n' }
      return {
        status: 200,
        headers: { ...HEADERS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
        body: (to) => keepTelling({ user, view, enter: (close) => enter(user, close) }, to, clock, log),
      }
    },
    stop() {
      for (const own of [...byUser.values()]) for (const close of [...own]) close()
    },
  }
}

function keepTelling(
  { user, view, enter }: { user: SignedInUser; view: LiveView; enter: (close: () => void) => () => void },
  to: LiveAnswer,
  clock: Clock,
  log: Log,
): void {
  // A browser that has hung up meanwhile does not say so again, and nothing would ever end.
  if (to.destroyed || to.closed) return
  const sent = new Map<string, Fragment>()
  let isFirst = true
  let isLooking = false
  /** Something has changed while it was looked at. */
  let isStale = false
  let isOver = false
  /** Calls the next look off. */
  let soon: (() => void) | undefined
  const stops: (() => void)[] = []
  const leaving = new AbortController()

  const leave = () => {
    isOver = true
    leaving.abort()
    soon?.()
    for (const stop of stops.splice(0)) stop()
  }
  const close = () => {
    leave()
    to.destroy()
  }
  const finish = () => {
    if (isOver) return
    leave()
    to.once('close', clock.after(LEAVES_WITHIN, close))
    to.end(eventOf('over', {}))
  }
  const look = async () => {
    soon = undefined
    isStale = isLooking
    if (isLooking || isOver) return
    isLooking = true
    try {
      if (!user.holds()) return finish()
      const text = changes(sent, await view.fragments(undefined, leaving.signal), isFirst)
      isFirst = false
      if (text !== '' && !isOver) to.write(text)
      if (to.writableLength > MOST_BYTES) close()
    } catch (thrown) {
      // What was under way for somebody who has left ends as it was told to.
      if (isOver) return
      log.warn('A page could not be kept up to date', { error: Failure.from(thrown) })
      close()
    } finally {
      isLooking = false
      if (isStale) changed()
    }
  }
  const changed = () => {
    if (!isOver) soon ??= clock.after(TOGETHER, () => void look())
  }
  stops.push(
    every(clock, HEARTBEAT, () => void to.write(':\n\n')),
    every(clock, LOOK, changed),
    ...view.watch(changed),
    user.onSignOut(() => void (user.holds() || finish())),
    clock.after(Math.max(0, user.until - clock.now()), finish),
    enter(close),
  )
  // A connection that breaks off is closed next.
  to.on('error', () => undefined)
  to.once('close', leave)
  void look()
}

/** Brings what was sent up to date, and gives the events that do the same in the browser. */
function changes(sent: Map<string, Fragment>, now: readonly Fragment[], isFirst: boolean): string {
  const events: string[] = []
  const ids = new Set(now.map(({ id }) => id))
  for (const id of [...sent.keys()]) if (!ids.has(id) && sent.delete(id)) events.push(eventOf('gone', { id }))
  const last = new Map<string, string>()
  for (const fragment of now) {
    const { id, list, say } = fragment
    const before = sent.get(id)
    const markup = markupOf(fragment.html)
    if (!before || markupOf(before.html) !== markup) {
      const told = !isFirst && say !== before?.say && say !== undefined ? { say } : {}
      events.push(eventOf('put', { id, list, after: last.get(list) ?? '', html: markup, ...told }))
      sent.set(id, fragment)
    }
    last.set(list, id)
  }
  if (isFirst) events.push(eventOf('all', { ids: [...ids], lists: [...new Set(now.map(({ list }) => list))] }))
  return events.join('')
}

/** JSON has no line feeds of its own, so no text can end an event and begin another. */
const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
