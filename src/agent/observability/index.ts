/**
 * How much the agent tells of itself: the level of its log, which the configuration changes while it runs. The log itself, and
 * where its lines go, are of std/; the key `grpc_level` is read and has no effect, for the gRPC library here logs nothing.
 */
export { createLeveledLog, type LeveledLog } from './log-level.ts'
