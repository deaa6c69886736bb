/**
 * The proxy: the way of browsers into workspaces. It knows which host leads to which port of which workspace, has people sign in at
 * the organisation's identity provider, asks for every request and upgrade whether they may, and passes on what may be; whatever is
 * open is judged again when something changes. It keeps nothing but keys. Read program.ts and services.ts (the wiring), web/ports.ts
 * (what parts know of each other), then routes.ts, reception/ and session/. web/ is what all answers are made with.
 */
export { type ProxyConfig, parseConfig, SETTINGS } from './config.ts'
export { type Addresses, type ProxySurroundings, start } from './program.ts'
