import { Failure } from '../../std/index.ts'

/** Which kinds of messages may follow which; `end` is a clean end of the stream, `start` what comes before everything. */
export type OrderRules<Kind extends string> = Readonly<Record<Kind | 'start', readonly (Kind | 'end')[]>>

/** Takes note of each message; throws, for an INVALID_ARGUMENT, at one that may not come now. */
export type Order<Kind extends string> = (kind: Kind | 'end' | undefined) => void

export function inOrder<Kind extends string>(rules: OrderRules<Kind>): Order<Kind> {
  let last: Kind | 'start' = 'start'
  return (kind) => {
    const allowed = rules[last]
    if (kind === undefined || !allowed.includes(kind)) throw outOfOrder(kind ?? 'an empty message', last, allowed)
    if (kind !== 'end') last = kind
  }
}

const outOfOrder = (kind: string, last: string, allowed: readonly string[]) =>
  new Failure('invalid', `${kind} may not come after ${last}: it is the turn of ${allowed.join(' or ')}`, {
    reason: 'InvalidRequest',
  })

/** The order of an agent's messages in a tunnel. */
export const OF_AGENTS: OrderRules<'descriptor' | 'header' | 'message' | 'trailer' | 'error'> = {
  start: ['descriptor'],
  descriptor: ['header', 'error'],
  header: ['message', 'trailer'],
  message: ['message', 'trailer'],
  trailer: ['error', 'end'],
  error: ['end'],
}

/** The order of kas' messages in a tunnel. */
export const OF_KAS: OrderRules<'requestInfo' | 'message' | 'closeSend'> = {
  start: ['requestInfo', 'end'],
  requestInfo: ['message', 'closeSend', 'end'],
  message: ['message', 'closeSend', 'end'],
  closeSend: ['end'],
}
