import { randomBytes } from 'node:crypto'
import type { PodProcess } from '../../adapters/kube/index.ts'

type Follow = PodProcess['follow']

/** A script that ends once all that it has written has been taken. */
interface WholeOutput {
  script: string
  /** As `follow` of the process, which has to be of that script. */
  follow(running: PodProcess, take: Parameters<Follow>[0]): ReturnType<Follow>
}

/**
 * What is on its way when a program ends is lost where its reader is slow, megabytes of it and without a word: the container runtime
 * closes the connection, the kubelet, which asks every five seconds whether it is there, is answered with a reset, and takes the missing
 * exit code for 0. So the script marks the end of both of its outputs, and stays until its input ends, which it does when both marks
 * have come. Where the client has ended the input before, there is nothing to wait for.
 * https://github.com/kubernetes/kubernetes/issues/124571
 */
export function createWholeOutput(script: string): WholeOutput {
  const mark = randomBytes(16).toString('hex')
  return {
    script: `${script}
code=$?
printf ${mark}
printf ${mark} >&2
cat > /dev/null 2>&1
exit "$code"`,
    async follow(running, take) {
      const ends = { stdout: createMarkFinder(mark), stderr: createMarkFinder(mark) }
      const code = await running.follow(async (from, bytes) => {
        const own = ends[from].pass(bytes)
        if (own.length > 0) await take(from, own)
        // Where the connection has broken, it is the process that says so.
        if (ends.stdout.isFound() && ends.stderr.isFound()) void running.endInput().catch(() => undefined)
      })
      for (const from of ['stdout', 'stderr'] as const) {
        const rest = ends[from].rest()
        if (rest.length > 0) await take(from, rest)
      }
      return code
    },
  }
}

const NONE = Buffer.alloc(0)

/** Takes a mark out of a stream of bytes. What may be the beginning of one waits for what comes next. */
function createMarkFinder(text: string) {
  const mark = Buffer.from(text)
  let isFound = false
  let kept: Buffer = NONE
  return {
    pass(bytes: Buffer): Buffer {
      if (isFound) return bytes
      const all = kept.length > 0 ? Buffer.concat([kept, bytes]) : bytes
      const at = all.indexOf(mark)
      if (at >= 0) {
        isFound = true
        kept = NONE
        return Buffer.concat([all.subarray(0, at), all.subarray(at + mark.length)])
      }
      const end = all.length - beginningAtEnd(all, mark)
      kept = all.subarray(end)
      return all.subarray(0, end)
    },
    isFound: () => isFound,
    /** Where the stream has ended without it. */
    rest: () => kept,
  }
}

/** So many of the last bytes are the first ones of the mark. */
function beginningAtEnd(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(-length).equals(mark.subarray(0, length))) return length
  return 0
}
