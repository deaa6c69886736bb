import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../../std/index.ts'

/** In every folder that was new or empty when it was taken: everything in it is ours. */
const MARK = '.berth-folder'
const TEXT = 'Berth made this folder and may remove everything in it.\n'

/**
 * Takes a folder for good, and says where it really is. One that holds somebody else's files is refused: its permissions
 * would be changed, and `remove` would have to tell whose is what.
 */
export function takeFolder(dir: string): string {
  makeFolder(dir)
  const real = realpathSync(dir)
  if (!existsSync(join(real, MARK))) {
    const [other] = readdirSync(real)
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

/** Removes a folder that was taken, with everything in it; any other is refused. One that is empty or not there is nobody's. */
export function removeFolder(dir: string): void {
  if (!existsSync(dir)) return
  const real = realpathSync(dir)
  if (!existsSync(join(real, MARK)) && readdirSync(real).length > 0) {
    throw new Failure('invalid', `the folder ${real} was not made by Berth, so nothing in it is removed`, {
      reason: 'NotOurFolder',
      remedy: 'Name the folder that `berth up` was given; remove anything else yourself.',
    })
  }
  rmSync(real, { recursive: true, force: true })
}
