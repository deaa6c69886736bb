/**
 * Finds out who somebody is, from the redirect to the provider to the cookie that each request shows. The provider sends people back to one
 * host (sign-in.ts); from there a ticket of half a minute takes them to the host of the workspace (arrival.ts), where a cookie of
 * that host alone stands for them (sessions.ts). Nothing is kept but the keys (keys.ts) and when people have signed out (sign-outs.ts). Who is connected is told in a ConfigMap (connections.ts). Read sign-in.ts first.
 */
export { createArrivals } from './arrival.ts'
export { writeInto } from './config-map.ts'
export { CONNECTIONS, publishConnections } from './connections.ts'
export type { IdentitySettings } from './identity.ts'
export { createRotatingKeys, KEYS, type RotatingKeys } from './keys.ts'
export { createSessions } from './sessions.ts'
export { createSignIn } from './sign-in.ts'
export { createSignOuts, SIGN_OUTS } from './sign-outs.ts'
