/**
 * Where the proxy asks for ports of workspaces that are reached through the tunnels of their pods (agentw). Who of the people may,
 * the proxy has decided; here it is the proxy itself that is asked who it is, and a port that is not declared and published is
 * reached by nobody. Read service.ts.
 */
export { createPortsService } from './service.ts'
