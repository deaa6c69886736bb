import { Failure } from '../../std/index.ts'

/** Of a process id with the end of its line. */
const LONGEST = 16

/** Takes the first line out of what a script writes: its process id. Any `sh` of a container may write something else, without end. */
export function createIdReader() {
  let line = ''
  let id: string | undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    pass(bytes: Buffer): Buffer {
      if (id !== undefined) return bytes
      const at = bytes.indexOf('\n')
      line += bytes.subarray(0, at < 0 ? LONGEST : Math.min(at, LONGEST)).toString('latin1')
      if (at < 0 && line.length < LONGEST) return Buffer.alloc(0)
      if (at < 0 || !/^\d{1,10}$/.test(line))
        throw new Failure('unavailable', 'its sh does not say a process id first', {
          remedy: 'Use a container with a usual shell.',
        })
      id = line
      resolve()
      return bytes.subarray(at + 1)
    },
    read: () => id,
    /** Resolves when it is there. */
    arrived: promise,
  }
}
