/**
 * The dashboard: pages on which people see their workspaces and do what they may with them, kept up to date while they look. What
 * somebody sees and does is decided by the roles of the cluster: it is asked before anything is shown, and what changes something
 * is done in their name. It does not sign people in and listens on nothing: the proxy serves it. Read dashboard.ts (what
 * is answered where), html.ts (why texts of strangers stay texts), view.ts and live.ts (pages, and how they change), permissions.ts.
 */
export { PING } from './class-choice.ts'
export { createDashboard, type Dashboard } from './dashboard.ts'
export { isFromOwnPage, type Reply } from './ports.ts'
