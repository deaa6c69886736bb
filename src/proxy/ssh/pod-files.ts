import { posix } from 'node:path'
import type { FileAttributes, FileEntry, SftpFiles } from '../../adapters/ssh/index.ts'
import { Failure } from '../../std/index.ts'
import type { Place } from './inside.ts'
import { openIn } from './pod-file.ts'
import { ask } from './pod-scripts.ts'

const STAT = '%f %s %u %g %X %Y'
/** No name has two slashes in it. */
const END = '//\n'

const SCRIPTS = {
  look: `if [ "$2" = link ]; then stat -c '${STAT}' "$1"; else stat -L -c '${STAT}' "$1"; fi`,
  list: `cd "$1" && find . -maxdepth 1 -exec stat -c '${STAT} %n//' {} +`,
  real: 'readlink -f "$1"',
  folder: 'mkdir "$1" && { [ -z "$2" ] || chmod "$2" "$1"; }',
  removeFolder: 'rmdir "$1"',
  remove: 'if [ -d "$1" ] && [ ! -L "$1" ]; then echo "Is a directory" >&2; exit 1; fi; rm -f "$1"',
  // Into a folder nothing is moved by a name that is taken.
  rename: 'if [ -d "$2" ] || { [ "$3" != over ] && [ -e "$2" ]; }; then echo "File exists" >&2; exit 1; fi; mv -f "$1" "$2"',
  readLink: 'readlink "$1"',
  link: 'ln -s -- "$2" "$1"',
  change: `[ -z "$2" ] || truncate -s "$2" "$1" || exit 1
[ -z "$3" ] || chown "$3" "$1" || exit 1
[ -z "$4" ] || chmod "$4" "$1" || exit 1
[ -z "$5" ] || { touch -a -d "@$5" "$1" && touch -m -d "@$6" "$1"; }`,
} as const

const LONGEST_PATH = 4096

/**
 * The files of a workspace whose image has no sftp-server, by what any image with a shell has: cat, stat, find, mv and the like, each run
 * by the exec API. `home` is the folder of the project.
 */
export function podFiles(place: Place, home: string, signal: AbortSignal): SftpFiles {
  const at = (path: string): string => {
    if (path.length > LONGEST_PATH || path.includes('\0')) throw new Failure('invalid', 'the path is none')
    // It begins with a slash, and so is never taken for an option.
    return path.startsWith('/') ? path : posix.join(home, '/', path)
  }
  const run = (script: keyof typeof SCRIPTS, ...words: string[]) => ask(place, { script: SCRIPTS[script], words, signal })
  const does = async (script: keyof typeof SCRIPTS, ...words: string[]): Promise<void> => void (await run(script, ...words))
  return {
    async realPath(path) {
      // What is not there yet has a path, too.
      const found = await run('real', at(path)).catch(() => '')
      return found.replace(/\n$/, '') || posix.resolve(home, path)
    },
    async look(path, followsLinks) {
      const line = await run('look', at(path), followsLinks ? '' : 'link')
      return attributesFrom(line.replace(/\n$/, '')).attributes
    },
    async list(path) {
      const text = await run('list', at(path))
      return text.split(END).flatMap((line) => (line === '' ? [] : [entryFrom(line)]))
    },
    open: (path, how, { mode }) => openIn(place, { path: at(path), how, mode: modeIn(mode), signal }),
    change: (path, { size, owner, mode, times }) =>
      does(
        'change',
        at(path),
        ...[size === undefined ? '' : String(size), owner ? `${owner.uid}:${owner.gid}` : '', modeIn(mode)],
        ...[times ? String(times.accessed) : '', times ? String(times.modified) : ''],
      ),
    makeFolder: (path, { mode }) => does('folder', at(path), modeIn(mode)),
    removeFolder: (path) => does('removeFolder', at(path)),
    async remove(path) {
      await run('look', at(path), 'link')
      await does('remove', at(path))
    },
    rename: (from, to, replaces) => does('rename', at(from), at(to), replaces ? 'over' : ''),
    readLink: async (path) => (await run('readLink', at(path))).replace(/\n$/, ''),
    link: (path, leadsTo) => does('link', at(path), leadsTo),
  }
}

const modeIn = (mode: number | undefined): string => (mode === undefined ? '' : (mode & 0o7777).toString(8).padStart(4, '0'))

function attributesFrom(line: string): { attributes: FileAttributes; rest: string } {
  const [mode = '', size, uid, gid, accessed, modified, ...words] = line.split(' ')
  const isRead =
    /^[0-9a-f]{1,8}$/.test(mode) && [size, uid, gid, accessed, modified].every((word) => /^-?\d{1,15}$/.test(word ?? ''))
  if (!isRead) throw new Failure('unavailable', 'the image of this workspace has a stat that says nothing of use')
  const attributes = {
    size: Number(size),
    owner: { uid: in32(uid), gid: in32(gid) },
    mode: Number.parseInt(mode, 16),
    times: { accessed: in32(accessed), modified: in32(modified) },
  }
  return { attributes, rest: words.join(' ') }
}

/** Clients know no other numbers. */
const in32 = (word: string | undefined): number => Math.min(Math.max(Number(word), 0), 0xff_ff_ff_ff)

function entryFrom(line: string): FileEntry {
  const { attributes, rest } = attributesFrom(line)
  return { name: rest.startsWith('./') ? rest.slice(2) : rest, attributes }
}
