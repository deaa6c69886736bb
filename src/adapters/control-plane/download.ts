import { chmodSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, Failure, seconds, spelled } from '../../std/index.ts'
import { dispatcherFor, type Fetching, fetchFile, fetchText } from './programs/fetch-file.ts'
import type { ProgressReport, Tool, ToolBuild } from './programs/tools.ts'
import { type Release, type ReleaseMirror, releaseOf } from './release.ts'
import { makeFolder, removeTree } from './servers/folder.ts'
import { run } from './servers/run.ts'

export interface Download extends ToolBuild {
  /** A site that keeps copies; without it the projects themselves are asked. */
  mirror?: ReleaseMirror | undefined
  clock: Clock
}

type Announced = Release & { sha256: string }

/** Fails with the first program whose release cannot be had. Nothing is downloaded. */
export async function findReleases(download: Download): Promise<void> {
  await reaching(download, (fetching) => sumsOf(download, fetching))
}

/**
 * Downloads the programs beside the goal, all at once, and renames each there when all are what they must be. What was cut off
 * stays beside it, and the next run goes on from there.
 */
export async function downloadReleases(download: Download): Promise<void> {
  const { into, report, clock } = download
  const beside = `${into}.downloading`
  makeFolder(beside)
  const fileOf = ({ tool }: Release) => join(beside, `${tool}.part`)
  const releases = await reaching(download, async (fetching) => {
    // Nothing is downloaded before it is known of every program what it must be.
    const announced = await sumsOf(download, fetching)
    const progressOf = progressOfAll(announced.length, report, clock)
    await together(fetching, announced, (release, stoppable) =>
      fetchFile({ ...release, file: fileOf(release), onProgress: progressOf(release.tool) }, stoppable),
    )
    return announced
  })
  mkdirSync(into, { recursive: true })
  for (const release of releases) await install(fileOf(release), release, download)
  removeTree(beside)
}

const sumsOf = ({ recipe, wanted, mirror }: Download, fetching: Fetching): Promise<Announced[]> =>
  together(fetching, wanted, async (tool, stoppable) => {
    const release = releaseOf(tool, recipe, mirror)
    const sha256 = release.sumIn(await fetchText(release.sums, stoppable))
    if (!sha256) throw new Failure('invalid', `${release.sums} does not say what ${release.url} must be`)
    return { ...release, sha256 }
  })

/** The files come over the connections that brought their sums. */
async function reaching<T>({ env, mirror, clock, signal }: Download, work: (fetching: Fetching) => Promise<T>): Promise<T> {
  const dispatcher = dispatcherFor(env)
  const { authorization } = mirror ?? {}
  try {
    return await work({ dispatcher, authorization, clock, signal: signal ?? new AbortController().signal })
  } finally {
    await dispatcher.destroy()
  }
}

/**
 * Does the work for all at once. One that fails ends the others, for without it they are for nothing; it is told when all have
 * ended, so that nothing goes on in a folder that somebody else may have by then.
 */
async function together<T, R>(
  fetching: Fetching,
  items: readonly T[],
  work: (item: T, stoppable: Fetching) => Promise<R>,
): Promise<R[]> {
  const stop = new AbortController()
  const stoppable = { ...fetching, signal: AbortSignal.any([fetching.signal, stop.signal]) }
  const works = items.map((item) => work(item, stoppable))
  try {
    return await Promise.all(works)
  } finally {
    stop.abort()
    await Promise.allSettled(works)
  }
}

async function install(file: string, { tool, member }: Release, { into, env }: Download): Promise<void> {
  let program = file
  if (member) {
    const folder = `${file}.unpacked`
    mkdirSync(folder, { recursive: true })
    // Run by root, tar would give the program to the user id that the archive names.
    await run('tar', ['-xzf', file, '-C', folder, '--no-same-owner', member], { env })
    program = join(folder, member)
  }
  chmodSync(program, 0o755)
  renameSync(program, join(into, tool))
}

const MEGA = 1_000_000
/** A speed that was measured for less than this says little. */
const MEASURED = seconds(1)

/** Tells how far all of them are together: bytes, and how long it will still take if it goes on like this. */
function progressOfAll(
  files: number,
  report: ProgressReport,
  clock: Clock,
): (tool: Tool) => (done: number, total: number) => void {
  const parts = new Map<Tool, { done: number; total: number }>()
  let before = -1
  // The bytes of an earlier run, and the time until all files have begun to come, say nothing about the speed.
  let start: { done: number; at: number } | undefined
  const tell = () => {
    if (parts.size < files) return
    const sum = (of: 'done' | 'total') => [...parts.values()].reduce((all, part) => all + part[of], 0)
    const [done, total, now] = [sum('done'), sum('total'), clock.now()]
    // There is less than before where a file begins anew.
    if (!start || done < start.done) start = { done, at: now }
    const mega = Math.floor(done / MEGA)
    if (mega === before && done < total) return
    before = mega
    const speed = now - start.at < MEASURED ? 0 : (done - start.done) / (now - start.at)
    const left = done < total && speed > 0 ? `, ${spelled((total - done) / speed)} left` : ''
    report.progress({ what: `downloading: ${mega} of ${Math.ceil(total / MEGA)} MB${left}`, done, total })
  }
  return (tool) => (done, total) => {
    parts.set(tool, { done, total })
    tell()
  }
}
