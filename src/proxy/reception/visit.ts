import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock, Failure, Log } from '../../std/index.ts'
import type { Call, House, Reader, Session } from '../ports.ts'

/** What is told of a request when it is over. */
export interface Visit {
  readonly reader: Reader
  status: number
  outcome: string
  house: House | undefined
  port: number | undefined
  session: Session | undefined
  /** What let them in: owner, share, link, … */
  as: string | undefined
  failure: Failure | undefined
  /** Writes the line about it into the log. */
  end(status: number): void
}

export interface VisitDesk {
  clock: Clock
  log: Log
  /** A request is over. `outcome`: passed, or why not. Seconds. */
  done(outcome: string, status: number, seconds: number): void
}

/** The longest that anything a stranger has sent may be in the log. */
const LONGEST = 200

/** `said` is what the request says of itself, also where it is not understood. */
export function beginVisit({ clock, log, done }: VisitDesk, reader: Omit<Reader, 'requestId'>, said: Said): Visit {
  const began = clock.now()
  const visit: Visit = {
    reader: { requestId: randomBytes(8).toString('hex'), ...reader },
    status: 0,
    outcome: 'broken',
    house: undefined,
    port: undefined,
    session: undefined,
    as: undefined,
    failure: undefined,
    end(status) {
      const ms = clock.now() - began
      const { what, method, host, target, from } = said
      done(visit.outcome, status, ms / 1000)
      // Queries hold tickets and worse; whatever a stranger has written is cut to a length.
      log.info(what, {
        request: visit.reader.requestId,
        method: method.slice(0, LONGEST),
        host: host?.slice(0, LONGEST),
        path: target?.split('?')[0]?.slice(0, LONGEST),
        status,
        outcome: visit.outcome,
        ms,
        from,
        ...(visit.house && { workspace: `${visit.house.workspace.namespace}/${visit.house.workspace.name}`, port: visit.port }),
        ...(visit.session && { user: visit.session.person.user.slice(0, LONGEST) }),
        ...(visit.as && { as: visit.as }),
        ...(visit.failure && { error: visit.failure }),
      })
    },
  }
  return visit
}

export interface Said {
  readonly what: 'request' | 'consultation'
  readonly method: string
  readonly host: string | undefined
  readonly target: string | undefined
  /** Whose address it is. */
  readonly from: string
}

/** Whether a browser asks that shows what it gets. */
export const wantsPage = ({ method, headers }: Pick<Call, 'method' | 'headers'> | IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (headers['sec-fetch-mode'] === undefined || headers['sec-fetch-mode'] === 'navigate') &&
  /text\/html|\*\/\*|^$/.test(headers.accept ?? '')
