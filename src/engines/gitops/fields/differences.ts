import { isRecord } from '../../../std/index.ts'
import { pointerOf } from './pointer.ts'

/** More of one object than anybody reads. */
const MOST = 64

/**
 * JSON pointers of the fields that we set and that have another value. What others added does not matter. A value that the
 * server writes in another way (`1000m` as `1`) counts as different: whoever asks must know what the server answered to the
 * write.
 */
export function differences(desired: unknown, live: unknown): string[] {
  const found: string[] = []
  compare(desired, live, [], found)
  return found
}

function compare(desired: unknown, live: unknown, at: readonly (string | number)[], found: string[]): void {
  if (found.length >= MOST) return
  if (isRecord(desired) && isRecord(live)) {
    for (const [key, value] of Object.entries(desired)) compare(value, live[key], [...at, key], found)
  } else if (Array.isArray(desired) && Array.isArray(live) && desired.length === live.length) {
    for (const [index, item] of desired.entries()) compare(item, live[index], [...at, index], found)
  } else if (desired !== live && !(live === undefined && isNothing(desired))) found.push(pointerOf(at))
}

/** The server leaves such values out. */
const isNothing = (value: unknown): boolean =>
  value === null || (isRecord(value) && Object.values(value).every((inner) => inner === null))
