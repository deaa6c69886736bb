import { isDeepStrictEqual } from 'node:util'
import { isRecord } from './record.ts'

/** RFC 7386: what is gone becomes null, lists are written whole. `undefined` where both are the same. */
export function mergePatch(from: Record<string, unknown>, to: Record<string, unknown>): Record<string, unknown> | undefined {
  const changes = [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) => {
    // Names come from users, and may be those of what every object has.
    const was = Object.hasOwn(from, key) ? from[key] : undefined
    const is = Object.hasOwn(to, key) ? to[key] : undefined
    if (isRecord(was) && isRecord(is)) {
      const change = mergePatch(was, is)
      return change ? [[key, change] as const] : []
    }
    return isDeepStrictEqual(was, is) ? [] : [[key, is ?? null] as const]
  })
  return changes.length > 0 ? Object.fromEntries(changes) : undefined
}
