import { type JsonPatchStep, saidIn } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { Failure } from '../../../std/index.ts'
import { type ManagedEntry, managedEntriesOf } from '../fields/managed-fields.ts'
import { kindOfAny } from '../objects/context.ts'
import { type Desired, managerOf } from '../objects/place.ts'
import { type ObjectWriter, patch, read } from './case.ts'

/**
 * The server compares what is applied with what was applied last in the version of that time, and cannot where the object has a
 * field that only the newer version knows. Seen with Kubernetes 1.36.
 */
export const isOfOlderVersion = (failure: unknown): boolean =>
  saidIn(Failure.from(failure)).includes('failed to convert merged object to last applied version')

/** Says of the fields that we applied in another version of the API that they are of the version of the manifest. Tells whether there were any. */
export async function moveToVersion(item: Desired, writer: ObjectWriter): Promise<boolean> {
  const served = await writer.send(item, () => writer.kube.resolve(item.object.apiVersion, item.id.kind))
  if (!served) return false
  const about = { item, kind: kindOfAny(served), writer }
  const live = await read(about)
  const steps = live && stepsTo(item.object.apiVersion, live, managerOf(writer.owner))
  if (steps) await patch(about, steps)
  return steps !== undefined
}

function stepsTo(apiVersion: string, live: AnyObject, manager: string): JsonPatchStep[] | undefined {
  const entries = managedEntriesOf(live)
  const isOld = (entry: ManagedEntry) =>
    entry.manager === manager && entry.operation === 'Apply' && entry.apiVersion !== apiVersion
  if (!entries.some(isOld)) return undefined
  const managedFields = entries.map((entry) => (isOld(entry) ? { ...entry.raw, apiVersion } : entry.raw))
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
  ]
}
