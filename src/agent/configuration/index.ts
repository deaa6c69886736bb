/**
 * Where the agent's configuration comes from, and how it is put into effect: by all parts of the agent or by none. What
 * cannot be put into effect leaves the last good one in place. What the parts make of it is theirs (ports.ts, `Follower`).
 */
export { type Following, followConfiguration } from './follow.ts'
