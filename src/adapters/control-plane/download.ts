import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, Failure, spelled } from '../../std/index.ts'
import { type Fetching, fetchFile, fetchText, openLine } from './fetch-file.ts'
import { makeFolder } from './folder.ts'
import type { Recipe } from './recipe.ts'
import { type Release, releaseOf } from './release.ts'
import type { Report } from './report.ts'
import { run } from './run.ts'
import type { Tool } from './tools.ts'

export interface Download {
  recipe: Recipe
  /** The folder that is to exist, whole, at the end. */
  into: string
  wanted: readonly Tool[]
  /** Who keeps copies; without it the projects themselves are asked. */
  mirror?: string | undefined
  /** The caller's environment: PATH. */
  env: Record<string, string | undefined>
  report: Report
  clock: Clock
  signal?: AbortSignal | undefined
}

type Announced = Release & { sha256: string }

/** Whether the releases of all programs can be had: fails with the first that can not. Nothing is downloaded. */
export async function findReleases(download: Download): Promise<void> {
  await sumsOf(download)
}

/**
 * Downloads the programs beside the goal, all at once, and renames them there, so that nobody ever meets half of them. What was
 * cut off stays beside it, and the next run goes on from there.
 */
export async function downloadReleases(download: Download): Promise<void> {
  const { into, env, report, clock } = download
  const beside = `${into}.downloading`
  makeFolder(beside)
  // Nothing is downloaded before it is known of every program what it must be.
  const announced = await sumsOf(download)
  // What has the name of a program was looked at before it got it.
  const releases = announced.filter(({ tool }) => !existsSync(join(beside, tool)))
  const told = tellerOf(releases.length, report, clock)
  await together(download, releases, (release, fetching) => bring(release, { beside, env }, told, fetching))
  rmSync(into, { recursive: true, force: true })
  renameSync(beside, into)
}

const sumsOf = (download: Download): Promise<Announced[]> =>
  together(download, download.wanted, async (tool, fetching) => {
    const release = releaseOf(tool, download.recipe, download.mirror)
    const sha256 = release.sumIn(await fetchText(release.sums, fetching))
    if (!sha256) throw new Failure('invalid', `${release.sums} does not say what ${release.url} must be`)
    return { ...release, sha256 }
  })

/**
 * Does the work for all at once. One that fails ends the others, for without it they are for nothing; it is told when all have
 * ended, so that nothing goes on in a folder that somebody else may have by then.
 */
async function together<T, R>(
  { clock, signal }: Download,
  items: readonly T[],
  work: (item: T, fetching: Fetching) => Promise<R>,
): Promise<R[]> {
  const stop = new AbortController()
  const line = openLine()
  const fetching = { line, clock, signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal }
  const works = items.map((item) => work(item, fetching))
  try {
    return await Promise.all(works)
  } finally {
    stop.abort()
    await Promise.allSettled(works)
    await line.destroy()
  }
}

type Told = (tool: Tool) => (done: number, total: number) => void

interface Place extends Pick<Download, 'env'> {
  beside: string
}

async function bring({ tool, url, sha256, member }: Announced, place: Place, told: Told, fetching: Fetching): Promise<void> {
  const { beside } = place
  const program = join(beside, tool)
  const file = `${program}.part`
  await fetchFile({ url, file, sha256, told: told(tool) }, fetching)
  if (member) await unpack(file, member, place)
  chmodSync(file, 0o755)
  renameSync(file, program)
}

/** Puts the one member in the archive's place. */
async function unpack(file: string, member: string, { beside, env }: Place): Promise<void> {
  await run('tar', ['-xzf', file, '-C', beside, member], { env })
  renameSync(join(beside, member), file)
  const [folder = ''] = member.split('/')
  rmSync(join(beside, folder), { recursive: true })
}

const MEGA = 1_000_000

/** Tells how far all of them are together: bytes, and how long it will still take if it goes on like this. */
function tellerOf(files: number, report: Report, clock: Clock): Told {
  const parts = new Map<Tool, { done: number; total: number; first: number }>()
  const began = clock.now()
  let before = -1
  const tell = () => {
    const sum = (of: 'done' | 'total' | 'first') => [...parts.values()].reduce((all, part) => all + part[of], 0)
    const [done, total, first] = [sum('done'), sum('total'), sum('first')]
    const mega = Math.floor(done / MEGA)
    if (parts.size < files || (mega === before && done < total)) return
    before = mega
    const speed = (done - first) / (clock.now() - began)
    const left = done < total && speed > 0 ? `, ${spelled((total - done) / speed)} left` : ''
    report.progress({ what: `downloading: ${mega} of ${Math.ceil(total / MEGA)} MB${left}`, done, total })
  }
  return (tool) => (done, total) => {
    parts.set(tool, { done, total, first: parts.get(tool)?.first ?? done })
    tell()
  }
}
