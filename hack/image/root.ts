/** The lowest layer: what Debian has of programs and libraries, and the user that everything runs as. */
import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readDebianLock, unpackDebian } from '../../src/adapters/control-plane/index.ts'

/** What nobody reads in an image. Licences stay, and what scanners want to know of the packages. */
const UNREAD = [
  'usr/share/{man,info,locale,lintian,bash-completion,bug,zsh,doc-base,gitweb,perl5,perl,gcc,gdb,apport,menu,debianutils}',
  'usr/share/git-core/contrib',
  // What of Git serves repositories, sends mail or speaks to servers of the days before HTTP/1.1, and Git for people with one huge repository.
  'usr/lib/git-core/{git-http-backend,git-daemon,git-shell,git-http-push,git-http-fetch,git-imap-send,git-sh-i18n--envsubst,scalar}',
  'usr/bin/{git-shell,scalar}',
  // Translations between encodings: Git's documents are UTF-8, as YAML is.
  'usr/lib/*-linux-gnu/gconv',
  'usr/lib/{systemd,sysusers.d,tmpfiles.d}',
  'etc/{init.d,default,pam.d,ufw,cron.daily,bash_completion.d}',
  'var/{cache,lib/git}',
]

/** The number by which Kubernetes sees that it is not root; that of distroless images. */
export const USER = 65_532

const FILES = {
  'etc/passwd': `root:x:0:0:root:/nonexistent:/sbin/nologin\nberth:x:${USER}:${USER}:berth:/tmp:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nberth:x:${USER}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

const LOCK = 'debian.txt'
/** It has programs that only containers in people's pods need. */
const SHELL = 'busybox-static'
const isShell = (name: string): boolean => name === SHELL

interface Unpacking {
  /** This machine's without one. */
  architecture?: string | undefined
  downloads: string
}

/** Debian's part of every image. */
export async function unpackRoot(root: string, unpacking: Unpacking): Promise<void> {
  await unpack(root, unpacking, { isWanted: (name) => !isShell(name) })
  const isLicence = (path: string) => path.endsWith('/copyright')
  const unread = [
    ...globSync(UNREAD, { cwd: root }),
    ...globSync('usr/share/doc/*/*', { cwd: root }).filter((path) => !isLicence(path)),
  ]
  // Forced, because some folders of documents are links to others.
  for (const path of unread) rmSync(join(root, path), { recursive: true, force: true })
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  mkdirSync(join(root, 'tmp'), { recursive: true })
}

/** Git as Debian has it shows what is long with a pager, and asks for messages with an editor, which it knows by these names. */
const CHOSEN = { pager: 'less', editor: 'vi' }

/** A shell with what scripts call, under the names that they call it by. */
export async function unpackShell(root: string, names: readonly string[], unpacking: Unpacking): Promise<void> {
  await unpack(root, unpacking, { isWanted: isShell })
  for (const name of names) symlinkSync('busybox', join(root, 'usr/bin', name))
  // No links: busybox goes by the name that it is called by.
  for (const [name, program] of Object.entries(CHOSEN)) {
    const path = join(root, 'usr/bin', name)
    writeFileSync(path, `#!/usr/bin/sh\nexec ${program} "$@"\n`)
    chmodSync(path, 0o755)
  }
}

const LIBRARIES = 'usr/lib/*-linux-gnu'
const SONAMES = [
  'c.so.6',
  'cap.so.2',
  'crypto.so.3',
  'json-c.so.5',
  'ssl.so.3',
  'uv.so.1',
  'websockets.so.19',
  'z.so.1',
  'zstd.so.1',
]
/** What a terminal in the browser needs of its packages: it runs in containers that have other libraries, or none. */
const TERMINAL = {
  bin: ['usr/bin/ttyd'],
  lib: [`${LIBRARIES}/ld-linux-*.so.?`, ...SONAMES.map((name) => `${LIBRARIES}/lib${name}`)],
  // Looked for in LD_LIBRARY_PATH, where nothing else is to be found.
  'lib/plugins': [`${LIBRARIES}/libwebsockets-evlib_uv.so`],
}
const ABOUT_PACKAGES = ['usr/share/doc/*/copyright', 'var/lib/dpkg/status.d/*']

/** A terminal in the browser that can be copied into any container, in `usr/lib/terminal`. */
export async function unpackTerminal(root: string, work: string, unpacking: Unpacking): Promise<void> {
  await unpack(work, unpacking, { lock: 'terminal/debian.txt' })
  const copy = (path: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    copyFileSync(join(work, path), join(root, to))
  }
  for (const [folder, patterns] of Object.entries(TERMINAL))
    for (const pattern of patterns) {
      const [path] = globSync(pattern, { cwd: work })
      if (path === undefined) throw new Error(`the packages of the terminal for ${unpacking.architecture} have no ${pattern}`)
      copy(path, join('usr/lib/terminal', folder, basename(path)))
    }
  for (const path of globSync(ABOUT_PACKAGES, { cwd: work })) copy(path, `${path}.terminal`)
}

/** Those names. The shell for this machine says them, whatever machine an image is for. */
export async function namesOfShell(work: string): Promise<string[]> {
  await unpack(work, { downloads: work }, { isWanted: isShell })
  const { stdout } = await promisify(execFile)(join(work, 'usr/bin/busybox'), ['--list'])
  return stdout
    .trim()
    .split('\n')
    .filter((name) => name !== 'busybox')
}

interface Choice {
  /** The file beside this one. */
  lock?: string
  isWanted?(name: string): boolean
}

async function unpack(root: string, { architecture, downloads }: Unpacking, choice: Choice): Promise<void> {
  const { lock = LOCK, isWanted = () => true } = choice
  const { packages, day } = readDebianLock(join(import.meta.dirname, lock), architecture)
  const wanted = packages.filter(({ path }) => isWanted(path.replace(/^.*\//, '').replace(/_.*/, '')))
  await unpackDebian({ packages: wanted, day, downloads, into: root, env: process.env })
}
