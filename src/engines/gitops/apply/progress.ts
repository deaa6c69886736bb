import { type Clock, seconds } from '../../../std/index.ts'
import type { Entry } from '../objects/change-set.ts'

/** Work that is not written down yet when a process dies is done again: at most so much of it, in time. */
const PAUSE = seconds(5)
/** Writing down takes a twentieth of the time at most, however big the inventory is. */
const SHARE = 20

/** Writes down now and then how far a long apply has come. `record` gets everything that is done so far. */
export function createProgress(clock: Clock, record: (done: readonly Entry[]) => Promise<void>) {
  const done: Entry[] = []
  let due = clock.now() + PAUSE
  let recording: Promise<void> | undefined
  let trouble: unknown

  const write = async (): Promise<void> => {
    const began = clock.now()
    await record([...done])
    due = clock.now() + Math.max(PAUSE, (clock.now() - began) * SHARE)
  }

  const attempt = () =>
    write().catch((thrown: unknown) => {
      trouble = thrown
    })

  return {
    /** One more is done. */
    note(entry: Entry) {
      done.push(entry)
      if (recording || trouble !== undefined || clock.now() < due) return
      recording = attempt().finally(() => {
        recording = undefined
      })
    },
    /** Does the work, and writes down how far it came when it breaks off. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      try {
        const result = await work()
        await recording
        if (trouble === undefined) return result
      } catch (thrown) {
        await recording
        if (trouble === undefined && done.length > 0) await attempt()
        // What broke the work off says more than why this could not be written.
        throw thrown
      }
      throw trouble
    },
  }
}
