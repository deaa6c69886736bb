import type { Rules } from '../../engines/tunnel/index.ts'

/** What a gateway says. */
export const OF_GATEWAYS: Rules<'tunnelReady' | 'header' | 'message' | 'trailer' | 'error' | 'noTunnel'> = {
  start: ['tunnelReady', 'noTunnel', 'end'],
  noTunnel: ['tunnelReady', 'end'],
  tunnelReady: ['header'],
  header: ['message', 'trailer'],
  message: ['message', 'trailer'],
  trailer: ['error', 'end'],
  error: ['end'],
}

/** Which agent a request of another kas is for: a decimal number. */
export const ROUTING_KEY = 'kas-hop-routing-agent-id'
