/**
 * The page about one workspace: its state with cause and remedy, what comes and when, the steps of its start, its ports. Read view.ts,
 * then parts.ts; logs.ts has what is asked of its target.
 */
export { eventsView, logsView } from './logs.ts'
export { removalPage, workspaceView } from './view.ts'
