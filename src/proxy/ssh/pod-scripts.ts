import { execInPod, type PodProcess } from '../../adapters/kube/index.ts'
import { beginningOf, Failure, harmlessLine } from '../../std/index.ts'
import type { Place } from './inside.ts'

interface PodScript {
  script: string
  /** Its parameters, from `$1` on: they are never read as a part of it. */
  words: readonly string[]
  signal: AbortSignal
}

/** Of a folder with tens of thousands of files. */
const MOST_OUTPUT = 8 * 2 ** 20
const MOST_COMPLAINTS = 4096

export const startScript = (place: Place, { script, words, signal }: PodScript): Promise<PodProcess> =>
  // What is said of mistakes has to be understood.
  execInPod(
    place.kube,
    { ...place, command: ['sh', '-c', `LC_ALL=C; export LC_ALL\n${script}`, 'sh', ...words], hasTerminal: false },
    signal,
  )

/** Runs a script to its end, and gives what it writes. Throws what it complains of. */
export async function ask(place: Place, script: PodScript): Promise<string> {
  const running = await startScript(place, script)
  const output: Buffer[] = []
  const heard = { size: 0 }
  const complaints = createComplaints()
  const code = await running.follow(async (from, bytes) => {
    if (from === 'stderr') return complaints.add(bytes)
    heard.size += bytes.length
    if (heard.size <= MOST_OUTPUT) output.push(bytes)
    else running.close()
  })
  if (heard.size > MOST_OUTPUT) throw new Failure('too-large', 'there are too many files in it')
  if (code !== 0) throw complaints.failure(code)
  return Buffer.concat(output).toString('utf8')
}

/** Keeps the beginning of what a program writes as errors. */
export function createComplaints() {
  let text = ''
  return {
    add(bytes: Buffer): void {
      if (text.length < MOST_COMPLAINTS) text = beginningOf(text + bytes.toString('utf8'), MOST_COMPLAINTS)
    },
    failure(code: number): Failure {
      const line = harmlessLine(text.trim().split('\n').at(-1) ?? '') || `it ended with exit code ${code}`
      if (/No such file|nonexistent|can't cd/.test(line)) return new Failure('not-found', line)
      return new Failure(/denied|not permitted|Read-only/.test(line) ? 'forbidden' : 'unavailable', line)
    },
  }
}
