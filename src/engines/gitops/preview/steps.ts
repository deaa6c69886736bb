import { isDeepStrictEqual } from 'node:util'
import type { JsonPatchStep } from '../../../adapters/kube/index.ts'
import { Failure, isRecord } from '../../../std/index.ts'
import { pointerOf } from '../../apply/index.ts'
import { inside } from '../fields/path-tree.ts'

/** Nobody writes objects that are nested so deeply, and each step names the whole way. */
const DEEPEST = 200

/**
 * The JSON patch that makes one object the other; lists are written whole. A merge patch could set no field to null. Only what goes
 * must still be there when it is sent.
 */
export function stepsBetween(from: unknown, to: unknown): JsonPatchStep[] {
  const steps: JsonPatchStep[] = []
  collect(from, to, [], steps)
  return steps
}

function collect(from: unknown, to: unknown, at: string[], steps: JsonPatchStep[]): void {
  if (from === to) return
  if (to === undefined) steps.push({ op: 'remove', path: pointerOf(at) })
  else if (isRecord(from) && isRecord(to)) {
    if (at.length === DEEPEST) throw new Failure('invalid', `is nested more than ${DEEPEST} levels deep`)
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
      at.push(name)
      collect(inside(from, name), inside(to, name), at, steps)
      at.pop()
    }
  } else if (!isDeepStrictEqual(from, to)) steps.push({ op: 'add', path: pointerOf(at), value: to })
}
