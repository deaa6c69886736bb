import { randomBytes } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import type { PodProcess } from '../../adapters/kube/index.ts'
import { type Clock, pause, systemClock } from '../../std/index.ts'

type Take = Parameters<PodProcess['follow']>[0]

/** A script that ends once all that it has written has been taken. */
interface WholeOutput {
  script: string
  /** As `follow` of the process, which has to be of that script. */
  follow(running: PodProcess, take: Take): Promise<number>
}

/** In milliseconds. The rest of a mark follows at once; whoever has to answer something else is not kept from it for long. */
const REST_WITHIN = 50

/**
 * What is on its way when a program ends is lost where its reader is slow, megabytes of it and without a word: the container runtime
 * closes the connection, the kubelet, which asks every five seconds whether it is there, is answered with a reset, and takes the missing
 * exit code for 0. So the script marks the end of both of its outputs, and stays until its input ends, which it does when both marks
 * have come. Where the input has ended before, nothing is left to wait by. That it stays keeps the input open, too: containerd ends that
 * of a command whose own output is closed (`cat > file`), with what is on its way.
 * https://github.com/kubernetes/kubernetes/issues/124571
 */
export function createWholeOutput(script: string, { hasInput }: { hasInput: boolean }, clock: Clock = systemClock): WholeOutput {
  const random = randomBytes(16).toString('hex')
  const mark = Buffer.from(`\x1f\x1e${random}`)
  // In the list of processes it stands with its escapes.
  const write = `printf '\\037\\036${random}'`
  // Where the command has left its output so that a write fails when it is full, it is opened anew. A shell that cannot write goes on.
  const writeTo = (fd: 1 | 2) => `{ (${write} >&${fd} 2> /dev/null) || (${write} > /proc/self/fd/${fd} 2> /dev/null); }`
  return {
    script: `(
${script}
)${hasInput ? '' : ' < /dev/null'}
code=$?
${writeTo(1)} && ${writeTo(2)} && cat > /dev/null 2>&1
exit "$code"`,
    follow: (running, take) => followMarked(running, take, { mark, clock }),
  }
}

async function followMarked(running: PodProcess, take: Take, { mark, clock }: { mark: Buffer; clock: Clock }): Promise<number> {
  const ends = { stdout: createMarkFinder(mark), stderr: createMarkFinder(mark) }
  let last = Promise.resolve()
  const give = (from: 'stdout' | 'stderr', bytes: Buffer): Promise<void> => {
    if (bytes.length > 0) last = last.then(() => take(from, bytes))
    return last
  }
  const giveLate = async (from: 'stdout' | 'stderr'): Promise<void> => {
    const seen = ends[from].pieces
    await pause(clock, REST_WITHIN)
    await breathe()
    if (seen === ends[from].pieces) await give(from, ends[from].rest())
  }
  try {
    return await running.follow(async (from, bytes) => {
      await give(from, ends[from].pass(bytes))
      // Where the connection has broken, it is the process that says so.
      if (ends[from].keeps) void giveLate(from).catch(() => undefined)
      if (ends.stdout.isFound && ends.stderr.isFound) void running.endInput().catch(() => undefined)
    })
  } finally {
    for (const from of ['stdout', 'stderr'] as const) await give(from, ends[from].rest())
  }
}

/** Takes a mark out of a stream of bytes. What may be the beginning of one is kept for what comes next. */
function createMarkFinder(mark: Buffer) {
  let isFound = false
  let pieces = 0
  /** So many of the last bytes are the first ones of the mark, and so many of those have been given for all that. */
  let begun = 0
  let given = 0
  return {
    pass(bytes: Buffer): Buffer {
      pieces++
      if (isFound) return bytes
      const all = begun > 0 ? Buffer.concat([mark.subarray(0, begun), bytes]) : bytes
      const at = all.indexOf(mark)
      const before = given
      isFound = at >= 0
      begun = isFound ? 0 : beginningAtEnd(all, mark)
      const end = isFound ? at : all.length - begun
      given = Math.max(0, before - end)
      const own = all.subarray(Math.min(before, end), end)
      return isFound ? Buffer.concat([own, all.subarray(at + mark.length)]) : own
    },
    get isFound() {
      return isFound
    },
    get keeps() {
      return begun > given
    },
    get pieces() {
      return pieces
    },
    /** What was kept, for which nothing has come. */
    rest(): Buffer {
      const rest = mark.subarray(given, begun)
      given = begun
      return rest
    },
  }
}

/** So many of the last bytes are the first ones of the mark. */
function beginningAtEnd(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(-length).equals(mark.subarray(0, length))) return length
  return 0
}
