import { isDeepStrictEqual } from 'node:util'
import type { JsonPatchStep } from '../../../adapters/kube/index.ts'
import { Failure, isRecord } from '../../../std/index.ts'
import { pointerOf } from '../../apply/index.ts'
import { inside } from '../fields/path-tree.ts'

/** No object of a person is nested so deeply, and each step would name the whole way. */
const DEEPEST = 200

/**
 * The steps that make one object the other; lists are written whole. Not as a merge patch, which can set no field to null, and so
 * that most of them do not depend on what somebody else does meanwhile.
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
    if (at.length === DEEPEST) throw new Failure('invalid', `is nested more than ${DEEPEST} levels deep`, { reason: 'Invalid' })
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
      at.push(name)
      collect(inside(from, name), inside(to, name), at, steps)
      at.pop()
    }
  } else if (!isDeepStrictEqual(from, to)) steps.push({ op: 'add', path: pointerOf(at), value: to })
}
