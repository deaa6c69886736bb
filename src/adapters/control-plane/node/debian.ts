import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Failure, isFailure } from '../../../std/index.ts'
import { type Fetching, fetchFile } from '../programs/fetch-file.ts'
import type { ProgressReport } from '../programs/tools.ts'
import { run } from '../servers/run.ts'
import type { DebianPackage, NodeRecipe } from './node-recipe.ts'

/** It has the current version of each package. */
const MIRROR = 'https://deb.debian.org/'
/** It has every version that there ever was, and is slow. */
const SNAPSHOTS = 'https://snapshot.debian.org/archive/'

export interface Unpacking extends Pick<NodeRecipe, 'packages' | 'day'> {
  /** Where the packages are kept while they are needed. */
  downloads: string
  /** The folder that is to look like Debian's root. */
  into: string
  fetching: Fetching
  env: Record<string, string | undefined>
  report: ProgressReport
}

/** Unpacks Debian packages into a folder. None of their scripts runs: the folder is for programs, not for a system that boots. */
export async function unpackDebian({ packages, day, downloads, into, fetching, env, report }: Unpacking): Promise<void> {
  // Since Debian 12 these are links in every system; packages still name both.
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(into, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(into, name))
  }
  for (const [done, { path, sha256 }] of packages.entries()) {
    report.progress({ what: 'downloading Debian packages', done, total: packages.length })
    const file = join(downloads, basename(path))
    await download({ path, sha256 }, day, file, fetching)
    const contents = dataIn(readFileSync(file), path)
    const archive = join(downloads, contents.name)
    writeFileSync(archive, contents.bytes)
    const how = ['--keep-directory-symlink', '--no-same-owner', '--directory', into]
    await run('tar', ['--extract', '--file', archive, ...how], { env, signal: fetching.signal })
    for (const used of [archive, file]) rmSync(used)
  }
}

async function download({ path, sha256 }: DebianPackage, day: string, file: string, fetching: Fetching): Promise<void> {
  const from = (url: string) => fetchFile({ url, sha256, file, onProgress: () => undefined }, fetching)
  try {
    await from(`${MIRROR}${path}`)
  } catch (thrown) {
    if (!isFailure(thrown, 'not-found')) throw thrown
    const [archive, ...rest] = path.split('/')
    await from(`${SNAPSHOTS}${archive}/${day}/${rest.join('/')}`)
  }
}

const MAGIC = '!<arch>\n'
const HEADER = 60

/** The archive of files in a package, which is an `ar` archive of three members (deb(5)). */
function dataIn(bytes: Buffer, path: string): { name: string; bytes: Buffer } {
  const text = (from: number, length: number) => bytes.toString('latin1', from, from + length).trim()
  let at = MAGIC.length
  while (bytes.toString('latin1', 0, MAGIC.length) === MAGIC && at + HEADER <= bytes.length) {
    const [name, size] = [text(at, 16).replace(/\/$/, ''), Number(text(at + 48, 10))]
    const start = at + HEADER
    if (name.startsWith('data.tar')) return { name, bytes: bytes.subarray(start, start + size) }
    at = start + size + (size % 2)
  }
  throw new Failure('invalid', `${path} is no Debian package`)
}
