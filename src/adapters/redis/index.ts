/**
 * Redis as the house uses it: one connection for commands and one channel, which comes back by itself, and whose every answer has a time
 * limit. Nothing waits for a Redis that is away: commands fail at once, and who gave them decides what that means. It does not know what is
 * kept there. Read redis.ts, then failures.ts: what Redis says, in our words.
 */
export { openRedis, type Redis, type RedisAccess, type RedisCommand } from './redis.ts'
