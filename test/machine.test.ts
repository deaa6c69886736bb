import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath, getuid, platform } from 'node:process'
import { equal, is, match, ok } from 'uvu/assert'
import { minutes } from '../src/std/index.ts'
import { describe } from './support/suite.ts'

const MAIN = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
const RESOLVER = '/etc/resolv.conf'

/** Runs a script in a mount namespace of its own: what it mounts nobody else sees, and it is gone with the script. */
function apart(script: string, ...parameters: string[]) {
  const guarded = `set -eu\n[ "$(readlink /proc/self/ns/mnt)" != "${ours}" ] || exit 99\n${script}`
  return spawnSync('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', guarded, 'sh', ...parameters], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    timeout: minutes(3),
    killSignal: 'SIGKILL',
  })
}

const ours = platform === 'linux' ? readlinkSync('/proc/self/ns/mnt') : ''
const isAble = platform === 'linux' && getuid?.() === 0 && apart('true').status === 0

/**
 * All that is mounted can be read and not written, but for the first parameter's folder, devices and what processes tell. It ends
 * with the first that can not be had so, other than what cannot be reached, for another mount hides it. Blanks and their like are
 * told in octal, which printf knows by a leading zero.
 */
const READ_ONLY = `
mount --bind "$1" "$1"
own=$1
cut -d ' ' -f 5 /proc/self/mountinfo | sed 's/\\\\/\\\\0/g' | sort -u | while read -r told; do
  point=$(printf '%b' "$told")
  case $point in
    "$own" | /dev | /dev/* | /proc | /proc/*) continue ;;
  esac
  [ ! -e "$point" ] || mount -o remount,bind,ro "$point"
done
[ ! -w /etc ] || exit 98
shift
`

describe(
  'the machine on which a program of ours runs',
  (it) => {
    let home = ''
    const before = existsSync(RESOLVER) ? readFileSync(RESOLVER, 'utf8') : undefined
    /** Of those on the machine, which has others that come and go. */
    const mountsOfOurs = () =>
      readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.includes(home))
    it.before(() => {
      home = realpathSync(mkdtempSync(join(tmpdir(), 'berth-machine-')))
    })
    it.after(() => {
      is(existsSync(RESOLVER) ? readFileSync(RESOLVER, 'utf8') : undefined, before)
      // What is mounted there would be removed with the folder.
      equal(mountsOfOurs(), [])
      rmSync(home, { recursive: true })
    })

    it('is not written to outside of the folder that was named, from up to down', () => {
      const dir = join(home, 'up and down')
      mkdirSync(dir)
      const script = `${READ_ONLY}
        "$@" up --detach --dir "$own/local"
        "$@" down --remove --dir "$own/local"`
      const { status, stdout, stderr } = apart(script, dir, execPath, MAIN)
      is(status, 0, stderr)
      match(stdout, /Berth is up/)
      ok(!existsSync(join(dir, 'local')))
    })

    it('keeps what is mounted in a folder that is to be removed, and says so', () => {
      const [dir, elsewhere] = ['with a mount', 'elsewhere'].map((name) => join(home, name))
      const precious = join(elsewhere ?? '', 'precious')
      mkdirSync(join(dir ?? '', 'etc'), { recursive: true })
      mkdirSync(elsewhere ?? '')
      writeFileSync(precious, 'as it was')
      writeFileSync(join(dir ?? '', '.berth-folder'), '')
      const script = 'mount --bind "$2" "$1/etc"\nown=$1\nshift 2\n"$@" down --remove --dir "$own"'
      const { status, stderr } = apart(script, dir ?? '', elsewhere ?? '', execPath, MAIN)
      is(status, 7, stderr)
      match(stderr, `${dir}/etc is a mount point, so nothing in ${dir} is removed`)
      is(readFileSync(precious, 'utf8'), 'as it was')
      ok(existsSync(join(dir ?? '', '.berth-folder')))
    })
  },
  isAble ? undefined : 'mounting takes root on Linux',
)
