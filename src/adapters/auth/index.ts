/**
 * Proves who somebody is, by three things: tokens that two programs with a common secret show each other (jwt.ts: HS256 and nothing else,
 * seconds long); tickets, which a program gives to browsers and reads again itself, signed or sealed under keys that rotate
 * (tickets.ts); and signing in at the identity provider of an organisation (provider.ts). No cryptography of our own. Tokens of
 * agents and of Kubernetes are not here: kas/authorization knows those.
 */
export { createSigner, createVerifier, type JwtOptions } from './jwt.ts'
export type { Logout } from './logout.ts'
export { connectProvider, type Provider } from './provider.ts'
export { createTickets, type TicketKey, type TicketKeys, type Tickets } from './tickets.ts'
