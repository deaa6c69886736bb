import { readBody, type WebRequest } from '../adapters/http/index.ts'
import type { Dashboard, Reply } from '../dashboard/index.ts'
import { type Clock, Failure, seconds } from '../std/index.ts'
import type { Recipient, Session, Sessions } from './web/ports.ts'

/** A form with a devfile in it. */
const MOST_BYTES = 256 * 1024
/** A client that sends a form takes no longer. */
const READ_WITHIN = seconds(20)

/** Hands requests of those who have signed in to the dashboard, which knows no cookies. */
export function askDashboard(dashboard: Dashboard, sessions: Pick<Sessions, 'holds' | 'onSignOut'>, clock: Clock) {
  return async (request: WebRequest, url: URL, { method, requestId }: Recipient, session: Session): Promise<Reply> => {
    const { headers, socket } = request
    const { person, until } = session
    const user = { person, until, holds: () => sessions.holds(session), onSignOut: sessions.onSignOut }
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    socket.once('close', leave)
    try {
      const asked = { user, method, url, headers, requestId, leaves: leaving.signal }
      return await dashboard.answer({ ...asked, form: () => formOf(request, clock) })
    } finally {
      socket.off('close', leave)
    }
  }
}

async function formOf(request: WebRequest, clock: Clock): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Failure('invalid', 'what was sent is no form', { remedy: 'Use the buttons on the pages' })
  const cancel = clock.after(READ_WITHIN, () => request.destroy())
  try {
    const body = await readBody(request, MOST_BYTES)
    if (!body) throw new Failure('too-large', `a form may have ${MOST_BYTES} bytes`)
    return new URLSearchParams(body.toString('utf8'))
  } finally {
    cancel()
  }
}
