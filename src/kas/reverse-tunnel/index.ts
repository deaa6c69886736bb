/**
 * Where agents and pods of workspaces open tunnels: whose a tunnel is, and that it ends with the right to it. What happens in a tunnel is in engines/tunnel.
 * Read service.ts.
 */
export { createReverseTunnelService } from './service.ts'
