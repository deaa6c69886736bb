import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure, isFailure } from '../../../std/index.ts'
import { type LockOptions, lock } from './lock.ts'

/** In every folder that was new or empty when it was taken: everything in it is ours. */
const MARK = '.berth-folder'
const TEXT = 'Berth made this folder and may remove everything in it.\n'
/** A process that starts or ends something in the folder holds this lock. */
const LOCK = '.berth-lock'

/**
 * Takes a folder for good, and says where it really is. One that holds somebody else's files is refused: its permissions
 * would be changed, and `remove` would have to tell whose is what.
 */
export function takeFolder(dir: string): string {
  makeFolder(dir)
  const real = realpathSync(dir)
  if (!isTaken(real)) {
    const other = foreignFileIn(real)
    if (other !== undefined) {
      throw new Failure('invalid', `the folder ${real} holds things that are not Berth's ("${other}", for one)`, {
        reason: 'FolderInUse',
        remedy: 'Name a new or an empty folder.',
      })
    }
    writeFileSync(join(real, MARK), TEXT)
  }
  // Nobody else may look inside: etcd's socket and the keys are protected by the folder.
  chmodSync(real, 0o700)
  return real
}

/**
 * Takes a folder and holds it until the answer is called. Of several who start or end something in it one does so at a time;
 * `waiting` is told once who has it.
 */
export async function lockFolder(dir: string, options: LockOptions): Promise<() => void> {
  while (true) {
    takeFolder(dir)
    const release = await lockTakenFolder(dir, options)
    if (release) return release
  }
}

/** As `lockFolder`, but takes none: there is no answer where the folder is not taken, or is removed by the one who had it. */
export async function lockTakenFolder(dir: string, options: LockOptions): Promise<(() => void) | undefined> {
  while (isTaken(dir)) {
    try {
      return await lock(join(realpathSync(dir), LOCK), options)
    } catch (thrown) {
      if (isTaken(dir) || isFailure(thrown, 'cancelled')) throw thrown
    }
  }
  return undefined
}

/** Berth has taken the folder. */
export const isTaken = (dir: string): boolean => existsSync(join(dir, MARK))

/** Something that keeps Berth from taking a folder. */
export function foreignFileIn(dir: string): string | undefined {
  const names = existsSync(dir) ? readdirSync(dir) : []
  return names.includes(MARK) ? undefined : names[0]
}

/**
 * Makes a folder with those above it, one by one: asked to do it at once, Node tries for ever where the system says that a folder
 * which is there cannot be found, as in /proc.
 */
export function makeFolder(dir: string): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found)
    throw new Failure('invalid', `${dir} is no folder`, {
      reason: 'NotAFolder',
      remedy: 'Name a folder, or one that is to be made.',
    })
  if (dirname(dir) !== dir) makeFolder(dirname(dir))
  try {
    mkdirSync(dir)
  } catch (cause) {
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return
    throw new Failure('invalid', `the folder ${dir} cannot be made: ${Failure.from(cause).message}`, {
      reason: 'FolderNotMade',
      remedy: `Name one in a folder that you may write to; ${dirname(dir)} is none.`,
      cause,
    })
  }
}

/**
 * Removes a folder that was taken, with everything in it but what is to be kept; any other is refused. One that is empty or not
 * there is nobody's.
 */
export function removeFolder(dir: string, keep?: string): void {
  if (!existsSync(dir)) return
  const real = realpathSync(dir)
  if (!isTaken(real) && readdirSync(real).length > 0) {
    throw new Failure('invalid', `the folder ${real} was not made by Berth, so nothing in it is removed`, {
      reason: 'NotOurFolder',
      remedy: 'Name the folder that `berth up` was given; remove anything else yourself.',
    })
  }
  refuseMounts(real)
  for (const name of readdirSync(real)) if (![MARK, LOCK, keep].includes(name)) removeTree(join(real, name))
  if (keep !== undefined) return
  // Renamed first: who waits for the lock must not get it in what is being removed.
  const doomed = `${real}.${process.pid}`
  removeTree(doomed)
  renameSync(real, doomed)
  removeTree(doomed)
}

/**
 * Removes all that is there, but nothing where something is mounted: what is mounted would be removed. Links are removed and not
 * followed.
 */
export function removeTree(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) return
  const real = join(realpathSync(dirname(path)), basename(path))
  refuseMounts(real)
  rmSync(real, { recursive: true })
}

function refuseMounts(real: string): void {
  const mount = mountsIn(real)[0]
  if (mount === undefined) return
  throw new Failure('invalid', `${mount} is a mount point, so nothing in ${real} is removed: what is mounted there would be`, {
    reason: 'Mounted',
    remedy: `Unmount it (umount ${mount}), and remove the folder then.`,
  })
}

/** The folder, and whatever is in it, as far as something is mounted there. Where there is no list of mounts none is known. */
function mountsIn(real: string): string[] {
  if (!existsSync(MOUNTS)) return []
  // Octal escapes stand for blanks and their like.
  const decoded = (path: string) =>
    path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
  const points = readFileSync(MOUNTS, 'utf8')
    .split('\n')
    .map((line) => decoded(line.split(' ')[4] ?? ''))
  return points.filter((point) => point === real || point.startsWith(`${real}/`))
}

/** See proc_pid_mountinfo(5). */
const MOUNTS = '/proc/self/mountinfo'
