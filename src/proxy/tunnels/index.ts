/**
 * The way to workspaces that no address leads to: their pods have opened tunnels to kas, and kas is asked for a port. Who may go there
 * is decided before, as for every other workspace. Read tunnels.ts.
 */
export { createTunnels, type Tunnels } from './tunnels.ts'
