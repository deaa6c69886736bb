import type { ServerResponse } from 'node:http'
import { type Clock, Failure, type Log, minutes, seconds } from '../std/index.ts'
import { markupOf } from './html.ts'
import { HEADERS } from './page.ts'
import type { Answer, Guest } from './ports.ts'
import type { Fragment, View } from './view.ts'

export interface Live {
  /** Sends the view as it is, then each fragment that has changed, until somebody leaves or may no longer. */
  follow(guest: Guest, view: View): Answer
  readonly size: number
  stop(): void
}

/** Changes that come together are shown together. */
const TOGETHER = 100
/** Something is sent now and then, so that whatever lies between keeps the connection. */
const HEARTBEAT = seconds(20)
/** What no watch tells, such as rights that were given by another authorizer, is looked at so often. */
const LOOK = minutes(1)
/** What a reader has not taken yet. Who is so slow begins anew. */
const MOST_BYTES = 2 ** 20
/** Whoever does not read does not take the last words either. */
const LEAVES_WITHIN = seconds(5)
const MOST_EACH = 20
const MOST = 5000

export function createLive({ clock, log }: { clock: Clock; log: Log }): Live {
  const byUser = new Map<string, Set<() => void>>()
  let size = 0

  const enter = ({ person: { user } }: Guest, close: () => void): (() => void) => {
    const own = byUser.get(user) ?? new Set()
    byUser.set(user, own.add(close))
    size++
    // Whoever opens one more has forgotten the first.
    const [oldest] = own
    if (own.size > MOST_EACH) oldest?.()
    return () => {
      if (!own.delete(close)) return
      size--
      if (own.size === 0) byUser.delete(user)
    }
  }
  return {
    get size() {
      return size
    },
    follow(guest, view) {
      if (size >= MOST) return { status: 503, headers: { ...HEADERS, 'retry-after': '30' }, body: 'Too many look at once.\n' }
      return {
        status: 200,
        headers: { ...HEADERS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
        body: (to) => keepTelling({ to, guest, view, enter, clock, log }),
      }
    },
    stop() {
      for (const own of [...byUser.values()]) for (const close of [...own]) close()
    },
  }
}

interface Telling {
  to: ServerResponse
  guest: Guest
  view: View
  enter: (guest: Guest, close: () => void) => () => void
  clock: Clock
  log: Log
}

interface State {
  isFirst: boolean
  isLooking: boolean
  /** Something has changed while it was looked at. */
  isStale: boolean
  isOver: boolean
  /** Calls the next look off. */
  soon: (() => void) | undefined
}

function keepTelling({ to, guest, view, enter, clock, log }: Telling): void {
  // Who has hung up meanwhile is not told again that they have, so nothing would ever end.
  if (to.destroyed || to.closed) return
  const sent = new Map<string, Fragment>()
  const waits: Record<'beat' | 'look' | 'end', () => void> = { beat: nothing, look: nothing, end: nothing }
  const state: State = { isFirst: true, isLooking: false, isStale: false, isOver: false, soon: undefined }
  const stops: (() => void)[] = []

  const leave = () => {
    state.isOver = true
    waits.beat()
    waits.look()
    state.soon?.()
    for (const stop of stops.splice(0)) stop()
  }
  const close = () => {
    leave()
    to.destroy()
  }
  const finish = () => {
    if (state.isOver) return
    leave()
    waits.end = clock.after(LEAVES_WITHIN, close)
    to.end(eventOf('over', {}))
  }
  const look = async () => {
    state.soon = undefined
    state.isStale = state.isLooking
    if (state.isLooking || state.isOver) return
    state.isLooking = true
    try {
      if (!guest.holds()) return finish()
      const text = changes(sent, await view.fragments(undefined), state.isFirst)
      state.isFirst = false
      if (text !== '' && !state.isOver) to.write(text)
      if (to.writableLength > MOST_BYTES) close()
    } catch (thrown) {
      log.warn('A page could not be kept up to date', { error: Failure.from(thrown) })
      close()
    } finally {
      state.isLooking = false
      if (state.isStale) changed()
    }
  }
  const changed = () => {
    if (!state.isOver) state.soon ??= clock.after(TOGETHER, () => void look())
  }
  const beat = () => {
    to.write(':\n\n')
    waits.beat = clock.after(HEARTBEAT, beat)
  }
  const lookAgain = () => {
    changed()
    waits.look = clock.after(LOOK, lookAgain)
  }
  waits.beat = clock.after(HEARTBEAT, beat)
  waits.look = clock.after(LOOK, lookAgain)
  stops.push(
    view.watch(changed),
    guest.onSignOut(() => void (guest.holds() || finish())),
    clock.after(Math.max(0, guest.until - clock.now()), finish),
    enter(guest, close),
  )
  // A connection that breaks off is closed next.
  to.on('error', nothing)
  to.once('close', () => {
    waits.end()
    leave()
  })
  void look()
}

const nothing = (): void => undefined

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
