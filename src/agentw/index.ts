/**
 * agentw: the way into a workspace from inside its pod. It opens tunnels to kas with a token that is made for nothing else, and joins
 * whatever comes through them with ports of its own pod, and of nowhere else. It listens nowhere, keeps nothing, and asks nobody who
 * comes: that the proxy and kas have decided. Read program.ts, then forward.ts.
 */
export { type AgentwConfig, parseConfig, SETTINGS } from './config.ts'
export { start } from './program.ts'
