import { isDeepStrictEqual } from 'node:util'
import type { JsonPatchStep, Kube } from '../../adapters/kube/index.ts'
import { type Kind, type KubeObject, refOf } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import type { Canonical } from './canonical.ts'
import type { Piece } from './owned-objects.ts'
import { pointerOf } from './pointer.ts'

/**
 * Makes an object, or puts it back where it differs, also by what somebody added inside of its fields. `there` is the object as a
 * cache shows it. Says whether it was put back.
 */
export async function keepExactly(
  { kube, canonical, manager }: { kube: Kube; canonical: Canonical; manager: string },
  { kind, object }: Piece,
  there: KubeObject | undefined,
): Promise<boolean> {
  if (!there) {
    await make(kube, canonical, { kind, object }, manager)
    return false
  }
  if (await isAsWanted(canonical, kind, object, there)) return false
  await kube.patch(kind, refOf(object), repairOf(object), { manager })
  return true
}

/** A plain create costs the API server half of what an apply does, and nearly always nothing is there yet. */
async function make(kube: Kube, canonical: Canonical, { kind, object }: Piece, manager: string): Promise<void> {
  try {
    canonical.learn(kind, object, await kube.create(kind, object, { manager }))
  } catch (failure) {
    // There, but without our label: the label brings it into our sight, and what else differs is then put back.
    if (!isFailure(failure, 'already-exists')) throw failure
    await kube.apply(kind, object, { manager, force: true })
  }
}

async function isAsWanted(canonical: Canonical, kind: Kind, wanted: KubeObject, there: KubeObject): Promise<boolean> {
  const has = there.metadata.labels ?? {}
  if (Object.entries(wanted.metadata.labels ?? {}).some(([key, value]) => has[key] !== value)) return false
  const body = bodyOf(wanted)
  if (Object.keys(body).length === 0) return true
  const found = Object.fromEntries(Object.entries(bodyOf(there)).filter(([key]) => key in body))
  return isDeepStrictEqual(found, body) || isDeepStrictEqual(found, bodyOf(await canonical.of(kind, wanted)))
}

/** Whole fields are replaced, so that nothing of what somebody added inside of them stays. */
function repairOf(wanted: KubeObject): JsonPatchStep[] {
  const add = (parts: string[], value: unknown): JsonPatchStep => ({ op: 'add', path: pointerOf(parts), value })
  const marks = Object.entries(wanted.metadata.labels ?? {}).map(([key, value]) => add(['metadata', 'labels', key], value))
  return [...marks, ...Object.entries(bodyOf(wanted)).map(([key, value]) => add([key], value))]
}

/** All but the envelope and what the cluster writes. */
function bodyOf({ apiVersion: _, kind: __, metadata: ___, ...rest }: KubeObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(rest).filter(([key]) => key !== 'status'))
}
