import type { PodProcess } from '../../adapters/kube/index.ts'
import type { OpenFile, OpenFlags } from '../../adapters/ssh/index.ts'
import { createWholeOutput } from '../../engines/lookout/index.ts'
import { Failure } from '../../std/index.ts'
import type { Place } from './inside.ts'
import { ask, createComplaints, startScript } from './pod-scripts.ts'

interface Opening {
  path: string
  how: OpenFlags
  /** In octal digits, or empty. */
  mode: string
  signal: AbortSignal
}

/** Says at once what would keep it from being read or written. */
const OPEN_SCRIPT = `if [ -d "$1" ]; then echo "Is a directory" >&2; exit 1; fi
if [ -e "$1" ]; then
  case "$2" in *new*) echo "File exists" >&2; exit 1;; esac
  case "$2" in *read*) : < "$1" || exit 1;; esac
  case "$2" in *write*) : >> "$1" || exit 1;; esac
else
  case "$2" in *create*) : > "$1" || exit 1; [ -z "$3" ] || chmod "$(printf %o "$((0$3 & ~0$(umask)))")" "$1" || exit 1;; *) echo "No such file" >&2; exit 1;; esac
fi
case "$2" in *truncate*) : > "$1" || exit 1;; esac`
const READ_SCRIPT = 'if [ "$2" = 0 ]; then exec cat "$1"; else exec tail -c "+$(($2 + 1))" "$1"; fi'
/**
 * From its beginning on nothing is cut off; else behind what there is. The shell stays, and with it its output: containerd ends the input
 * of a command whose output is closed, with what is on its way. And what cannot be written is read to its end: the API server tells of no
 * end of a command while there is input that nobody takes.
 */
const WRITE_SCRIPT = `if [ "$2" = append ]; then cat >> "$1"
elif [ "$2" = 0 ]; then cat 1<> "$1"
elif [ "$(stat -L -c %s "$1")" = "$2" ]; then cat >> "$1"
else echo "only from its beginning or end on can it be written here" >&2; false; fi
code=$?
[ "$code" = 0 ] || cat > /dev/null
exit "$code"`

export async function openIn(place: Place, { path, how, mode, signal }: Opening): Promise<OpenFile> {
  const { reads, writes, creates, truncates, isNew, appends } = how
  const wishes = [
    ...(reads ? ['read'] : []),
    ...(writes ? ['write'] : []),
    ...(writes && creates ? ['create'] : []),
    ...(writes && truncates ? ['truncate'] : []),
    ...(creates && isNew ? ['new'] : []),
  ]
  await ask(place, { script: OPEN_SCRIPT, words: [path, wishes.join(' '), mode], signal })
  const start = (script: string, from: number | 'append') => startScript(place, { script, words: [path, String(from)], signal })
  const reading = createReading(async (from) => {
    const { script, follow } = createWholeOutput(READ_SCRIPT, { hasInput: false })
    const running = await start(script, from)
    return { ...running, follow: (take) => follow(running, take) }
  })
  const writing = createWriting((from) => start(WRITE_SCRIPT, appends ? 'append' : from), appends)
  return {
    path,
    read: reading.read,
    write: writing.write,
    settle: writing.settle,
    async close() {
      reading.close()
      await writing.settle()
    },
  }
}

interface Pipe {
  /** Where the next byte is. */
  at: number
  take(most: number): Promise<readonly Buffer[]>
  readonly isOver: boolean
  /** Why it is over too early. */
  readonly failure: Failure | undefined
  close(): void
}

function createReading(start: (from: number) => Promise<PodProcess>) {
  let pipe: Pipe | undefined
  return {
    async read(at: number, most: number): Promise<readonly Buffer[]> {
      // Clients ask for more before they know where the end is.
      if (pipe?.isOver && at >= pipe.at) {
        if (pipe.failure) throw pipe.failure
        return []
      }
      if (pipe?.at !== at) {
        pipe?.close()
        pipe = pipeOf(await start(at), at)
      }
      return pipe.take(most)
    },
    close: () => pipe?.close(),
  }
}

/** Takes no more from the program than is asked for. */
function pipeOf(running: PodProcess, from: number): Pipe {
  const complaints = createComplaints()
  const state: { chunk: Buffer; isOver: boolean; isClosed: boolean; failure?: Failure } = {
    ...{ chunk: Buffer.alloc(0), isOver: false, isClosed: false },
  }
  let arrived = Promise.withResolvers<void>()
  let taken = Promise.withResolvers<void>()
  const end = (failure?: Failure) => {
    state.isOver = true
    if (failure) state.failure = failure
    arrived.resolve()
  }
  running
    .follow(async (kind, bytes) => {
      if (kind === 'stderr') return complaints.add(bytes)
      if (state.isClosed) return
      state.chunk = bytes
      taken = Promise.withResolvers<void>()
      arrived.resolve()
      await taken.promise
    })
    .then(
      (code) => end(code === 0 ? undefined : complaints.failure(code)),
      (thrown: unknown) => end(Failure.from(thrown)),
    )
  const pipe = {
    at: from,
    async take(most: number): Promise<readonly Buffer[]> {
      const parts: Buffer[] = []
      let missing = most
      while (missing > 0) {
        if (state.chunk.length === 0) {
          if (state.isOver) break
          await arrived.promise
          arrived = Promise.withResolvers<void>()
          if (state.isOver) arrived.resolve()
          continue
        }
        const part = state.chunk.subarray(0, missing)
        state.chunk = state.chunk.subarray(part.length)
        parts.push(part)
        missing -= part.length
        if (state.chunk.length === 0) taken.resolve()
      }
      if (parts.length === 0 && state.failure) throw state.failure
      pipe.at += most - missing
      return parts
    },
    get isOver() {
      return state.isOver && state.chunk.length === 0
    },
    get failure() {
      return state.failure
    },
    close() {
      state.isClosed = true
      taken.resolve()
      running.close()
    },
  }
  return pipe
}

interface Written {
  running: PodProcess
  at: number
  /** Throws what the program complained of, once it is over. */
  over: Promise<void>
  /** It has ended, or complains. */
  isOver(): boolean
}

function createWriting(start: (from: number) => Promise<PodProcess>, appends: boolean) {
  let written: Written | undefined
  let failure: Failure | undefined
  const settle = async (): Promise<void> => {
    const last = written
    written = undefined
    if (!last) return
    await last.running.endInput().catch(() => undefined) // How it ended, it says itself.
    await last.over
  }
  const write = async (at: number, bytes: Buffer): Promise<void> => {
    if (written && !appends && written.at !== at) await settle()
    written ??= writtenTo(await start(at), at)
    await written.running.input(bytes)
    if (written.isOver()) return settle()
    written.at += bytes.length
  }
  return {
    /** After a failure there is a hole in it: nothing more is written. */
    async write(at: number, bytes: Buffer): Promise<void> {
      if (failure) throw failure
      try {
        await write(at, bytes)
      } catch (thrown) {
        failure = Failure.from(thrown)
        written?.running.close()
        written = undefined
        throw failure
      }
    },
    settle,
  }
}

function writtenTo(running: PodProcess, at: number): Written {
  const complaints = createComplaints()
  let isOver = false
  const follow = async () => {
    try {
      const code = await running.follow(async (kind, bytes) => {
        if (kind === 'stdout') return
        complaints.add(bytes)
        isOver = true
      })
      if (code !== 0) throw complaints.failure(code)
    } finally {
      isOver = true
    }
  }
  const over = follow()
  // Whoever settles it hears of it.
  over.catch(() => undefined)
  return { running, at, over, isOver: () => isOver }
}
