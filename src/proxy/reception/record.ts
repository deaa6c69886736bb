import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { keyOf } from '../../api/index.ts'
import type { Clock, Failure, Log } from '../../std/index.ts'
import type { Recipient, Route, Session } from '../web/ports.ts'

/** Collects what is told of a request when it is over. */
export interface RequestRecord {
  readonly what: 'request' | 'consultation'
  readonly recipient: Recipient
  /** Address of the visitor. */
  readonly from: string
  status: number
  /** Passed, or a word that says why not. */
  outcome: string
  route?: Route | undefined
  session?: Session | undefined
  /** As what the visitor was let in: owner, share, link, … */
  as?: string | undefined
  failure?: Failure | undefined
  /** Writes the line about it into the log. */
  end(status: number): void
}

/** The request says this of itself, also where it is not understood. */
interface RequestLine {
  readonly what: RequestRecord['what']
  readonly method: string
  readonly host: string | undefined
  readonly target: string | undefined
  readonly wantsPage: boolean
  /** Address of the visitor. */
  readonly from: string
}

/** Counts a request that is over. */
export type CountRequest = (outcome: string, status: number, seconds: number) => void

/** The longest that anything a stranger has sent may be in the log. */
const LONGEST = 200

/** Of these the runtime makes many at once, where it would ask the kernel for each of a few bytes. */
const newId = (): string => randomUUID().slice(19).replace('-', '')

export function beginRecord(
  { clock, log, done }: { clock: Clock; log: Log; done: CountRequest },
  line: RequestLine,
): RequestRecord {
  const began = clock.now()
  const { what, method, host, target, wantsPage, from } = line
  return {
    what,
    recipient: { requestId: newId(), method, wantsPage },
    from,
    status: 0,
    outcome: 'broken',
    end(status) {
      const ms = clock.now() - began
      const { recipient, outcome, route, session, as, failure } = this
      const ref = route?.workspace.ref
      done(outcome, status, ms / 1000)
      // Queries hold tickets and worse; whatever a stranger has written is cut to a length.
      log.info(what, {
        request: recipient.requestId,
        method: method.slice(0, LONGEST),
        host: host?.slice(0, LONGEST),
        path: target?.split('?')[0]?.slice(0, LONGEST),
        status,
        outcome,
        ms,
        from,
        ...(ref && { workspace: keyOf(ref), port: route?.port }),
        ...(session && { user: session.person.user.slice(0, LONGEST) }),
        ...(as && { as }),
        ...(failure && { error: failure }),
      })
    },
  }
}

/** Tells a browser that shows a page from a script that wants data. */
export const wantsPage = (method: string, headers: IncomingHttpHeaders): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (headers['sec-fetch-mode'] === undefined || headers['sec-fetch-mode'] === 'navigate') &&
  /text\/html|\*\/\*|^$/.test(headers.accept ?? '')
