/** Where the agent's configuration comes from, and how it is put into effect: by all parts or by none. */
export { type Following, followConfiguration } from './follow.ts'
