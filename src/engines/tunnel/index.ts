/**
 * Tunnels: streams that an agent opens to kas so that kas can make calls to the agent. This room speaks that wire on both sides:
 * the agent keeps a pool of them and answers what comes (`serveTunnels`); kas matches them with requests (`createTunnels`) and makes
 * a request look like any other call (`request`). It knows neither tokens nor other kas, and keeps no message that nobody has asked for.
 * Read order.ts (who may say what when) first, then the agent's serve.ts and answer.ts, then kas' tunnels.ts, tunnel.ts and request.ts.
 */
export type { TunnelCall, TunnelHandler } from './answer.ts'
export { type Carrier, callThrough } from './carrier.ts'
export { MESSAGE_BYTES, type PoolSize } from './limits.ts'
export { answerMetaFrom, endingOf, forwardable } from './metadata.ts'
export { inOrder, type OrderRules } from './order.ts'
export { pour } from './pour.ts'
export { request } from './request.ts'
export { type ServeTunnelsOptions, serveTunnels } from './serve.ts'
export type { Tunnel } from './tunnel.ts'
export { type Admitted, createTunnels, type Tunnels } from './tunnels.ts'
