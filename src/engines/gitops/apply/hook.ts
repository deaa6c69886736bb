import { type AnyObject, isDeleting } from '../../../api/index.ts'
import { type HookRun, isOfRun, RUN_ANNOTATION, textOf } from '../objects/hook-runs.ts'
import { type Desired, OWNER_LABEL } from '../objects/place.ts'
import { type ObjectWrite, put, uidIn, type WriteOutcome } from './case.ts'
import { recreate } from './recreate.ts'

/**
 * Makes a hook for this run, once the one of the run before is gone. One that was made for this run already, and not written down before
 * the program died, runs on: nothing runs twice.
 */
export async function beginHook({ item, kind, seen, writer }: Omit<ObjectWrite, 'content'>, run: HookRun): Promise<WriteOutcome> {
  if (seen && isBegun(seen, writer.owner, run)) return { change: 'unchanged', ...uidIn(seen) }
  const about = { item: markedWith(item, run), kind, writer }
  const made = await (seen ? recreate(about) : put(about, about.item.object))
  if (!made) return { change: 'waiting', why: 'runs when the one of the run before is gone, which is being deleted' }
  writer.wrote?.(item, made)
  return { change: 'created', ...uidIn(made) }
}

const isBegun = (live: AnyObject, owner: string, run: HookRun): boolean =>
  live.metadata.labels?.[OWNER_LABEL] === owner && !isDeleting(live) && isOfRun(live.metadata.annotations?.[RUN_ANNOTATION], run)

function markedWith(item: Desired, run: HookRun): Desired {
  const { metadata } = item.object
  const annotations = { ...metadata.annotations, [RUN_ANNOTATION]: textOf(run) }
  return { ...item, object: { ...item.object, metadata: { ...metadata, annotations } } }
}
