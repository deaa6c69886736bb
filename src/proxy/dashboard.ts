import type { WebRequest } from '../adapters/http/index.ts'
import type { Dashboard, Reply } from '../dashboard/index.ts'
import type { Clock } from '../std/index.ts'
import { formIn } from './web/form.ts'
import type { Recipient, Session, Sessions } from './web/ports.ts'

/** A form with a devfile in it. */
const MOST_BYTES = 256 * 1024

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
      return await dashboard.answer({ ...asked, form: () => formIn(request, MOST_BYTES, clock) })
    } finally {
      socket.off('close', leave)
    }
  }
}
