import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Clock, Failure, isFailure, systemClock } from '../../../std/index.ts'
import { dispatcherFor, type Fetching, fetchFile } from '../programs/fetch-file.ts'
import { ARCHITECTURE, type ProgressReport, silentReport } from '../programs/tools.ts'
import { run } from '../servers/run.ts'

/** Names packages in exactly these versions; hack/lock-debian-packages.sh writes such files. */
export interface DebianLock {
  packages: readonly DebianPackage[]
  /** The day whose Debian has the packages, as in `20261126T000000Z`. */
  day: string
}

export interface DebianPackage {
  sha256: string
  /** Below a mirror of Debian, as in `debian/pool/main/r/runc/runc_1.1.5_amd64.deb`. */
  path: string
}

/** The packages of an architecture, by Debian's name for it, which a lock file has; those of this machine's without one. */
export function readDebianLock(file: string, architecture = ARCHITECTURE): DebianLock {
  const text = readFileSync(file, 'utf8')
  const packages = text
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([first]) => first === architecture)
    .map(([, sha256 = '', path = '']) => ({ sha256, path }))
  const day = /\d{8}T\d{6}Z/.exec(text)?.[0]
  if (!day || packages.length === 0) throw new Failure('invalid', `${file} has no packages for ${architecture}`)
  return { packages, day }
}

/** It has the current version of each package. */
const MIRROR = 'https://deb.debian.org/'
/** It has every version that there ever was, and is slow. */
const SNAPSHOTS = 'https://snapshot.debian.org/archive/'

export interface Unpacking extends DebianLock {
  /** Where the packages are kept while they are needed. */
  downloads: string
  /** The folder that is to look like Debian's root. */
  into: string
  /** The caller's environment: proxies, and PATH. */
  env: Record<string, string | undefined>
  report?: ProgressReport | undefined
  clock?: Clock | undefined
  signal?: AbortSignal | undefined
}

/** Unpacks Debian packages into a folder. None of their scripts runs: the folder is for programs, not for a system that boots. */
export async function unpackDebian(unpacking: Unpacking): Promise<void> {
  const { env, clock = systemClock, signal = new AbortController().signal } = unpacking
  const dispatcher = dispatcherFor(env)
  try {
    await unpackAll(unpacking, { dispatcher, clock, signal })
  } finally {
    await dispatcher.destroy()
  }
}

async function unpackAll(
  { packages, day, downloads, into, env, report = silentReport }: Unpacking,
  fetching: Fetching,
): Promise<void> {
  // Since Debian 12 these are links in every system; packages still name both.
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(into, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(into, name))
  }
  for (const [done, { path, sha256 }] of packages.entries()) {
    report.progress({ what: 'downloading Debian packages', done, total: packages.length })
    const file = join(downloads, basename(path))
    await download({ path, sha256 }, day, file, fetching)
    const bytes = readFileSync(file)
    rmSync(file)
    const extract = async (member: string, ...how: string[]) => {
      const archive = join(downloads, member)
      writeFileSync(archive, memberOf(bytes, member, path))
      // GNU tar looks at what a file is, and not at its name.
      const said = await run('tar', ['--extract', '--file', archive, ...how], { env, signal: fetching.signal })
      rmSync(archive)
      return said
    }
    await extract('data.tar', '--keep-directory-symlink', '--no-same-owner', '--directory', into)
    noteInstalled(into, await extract('control.tar', '--to-stdout', './control'))
  }
  bundleCertificates(into)
}

/** Where scanners of images look for what is installed, if there is no database of dpkg's. */
function noteInstalled(root: string, control: string): void {
  const folder = join(root, 'var', 'lib', 'dpkg', 'status.d')
  const name = /^Package: (\S+)$/m.exec(control)?.[1]
  if (!name) throw new Failure('invalid', 'a Debian package does not say its name')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), control)
}

/** A script of the package ca-certificates would make it of those that it brings. */
function bundleCertificates(root: string): void {
  const [from, to] = [join(root, 'usr/share/ca-certificates/mozilla'), join(root, 'etc/ssl/certs')]
  if (!existsSync(from)) return
  const names = readdirSync(from).sort()
  mkdirSync(to, { recursive: true })
  writeFileSync(join(to, 'ca-certificates.crt'), names.map((name) => readFileSync(join(from, name), 'utf8')).join(''))
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

/** A member of a package, which is an `ar` archive of three (deb(5)); what packs it is the rest of its name. */
function memberOf(bytes: Buffer, member: string, path: string): Buffer {
  const text = (from: number, length: number) => bytes.toString('latin1', from, from + length).trim()
  let at = MAGIC.length
  while (bytes.toString('latin1', 0, MAGIC.length) === MAGIC && at + HEADER <= bytes.length) {
    const [name, size] = [text(at, 16).replace(/\/$/, ''), Number(text(at + 48, 10))]
    const start = at + HEADER
    if (name.startsWith(member)) return bytes.subarray(start, start + size)
    at = start + size + (size % 2)
  }
  throw new Failure('invalid', `${path} is no Debian package`)
}
