/** How much the agent tells of itself: the level of its log, which the configuration changes while it runs. */
export { createLeveledLog, type LeveledLog } from './log-level.ts'
