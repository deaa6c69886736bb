import type { IncomingMessage } from 'node:http'
import type { Dashboard, Guest } from '../../dashboard/index.ts'
import { type Clock, Failure, seconds } from '../../std/index.ts'
import type { Reader, Reply, Session, Sessions } from '../ports.ts'

export interface FrontDesk {
  dashboard: Pick<Dashboard, 'answer'>
  sessions: Pick<Sessions, 'holds' | 'onSignOut'>
  clock: Clock
}

/** A form with a devfile in it. */
const MOST_BYTES = 256 * 1024
/** Who sends a form takes no longer. */
const READ_WITHIN = seconds(20)

/** Hands requests of those who have signed in to the dashboard. */
export function createFront({ dashboard, sessions, clock }: FrontDesk) {
  return (request: IncomingMessage, url: URL, { method, requestId }: Reader, session: Session): Promise<Reply> => {
    const guest: Guest = {
      person: session.person,
      until: session.until,
      holds: () => sessions.holds(session),
      onSignOut: (listener) => sessions.onSignOut(listener),
    }
    return dashboard.answer({ guest, method, url, headers: request.headers, requestId, form: () => formOf(request, clock) })
  }
}

async function formOf(request: IncomingMessage, clock: Clock): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Failure('invalid', 'what was sent is no form', { remedy: 'Use the buttons on the pages' })
  const cancel = clock.after(READ_WITHIN, () => request.destroy())
  try {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > MOST_BYTES) throw new Failure('too-large', `a form may have ${MOST_BYTES} bytes`)
      chunks.push(chunk)
    }
    return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
  } finally {
    cancel()
  }
}
