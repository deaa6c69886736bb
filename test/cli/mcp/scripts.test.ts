import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import {
  COMMAND_SCRIPT,
  END_SCRIPT,
  filesIn,
  LIST_SCRIPT,
  READ_SCRIPT,
  REASONS,
  WITH_ID,
  WRITE_SCRIPT,
} from '../../../src/cli/mcp/scripts.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Those of distributions; that of busybox is tried in a pod. */
const SHELLS = ['sh', 'dash', 'bash'].filter((shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0)
const NAMES = ['-', '-rf', 'a b;$(touch x)', 'new\nline', '*', '.hidden', '..odd', '[x]', 'ü', '\\n']

const CANARY = 'canary-of-a-variable'

describe('the scripts of berth mcp', (it) => {
  let folder = ''
  it.beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-mcp-scripts-'))
  })
  it.afterEach(() => rmSync(folder, { recursive: true }))

  const environment = () => ({
    PATH: process.env.PATH,
    HOME: '/nowhere',
    PROJECT_SOURCE: folder,
    CDPATH: '/',
    TMPDIR: '/nowhere',
    SECRET: CANARY,
  })
  const run = (shell: string, script: string, words: string[], input: string | Buffer = '', more: NodeJS.ProcessEnv = {}) => {
    // Of a socket bash thinks that somebody has logged in, and reads what is at home.
    const env = { ...environment(), ...more }
    const { status, stdout, stderr } = spawnSync(shell, ['-c', script, 'sh', ...words], { env, input, maxBuffer: 2 ** 24 })
    return { status, stdout: stdout.toString(), stderr: stderr.toString() }
  }

  it('are tried with some shell', () => ok(SHELLS.length > 0))

  it('list, read and write files of any name', () => {
    mkdirSync(join(folder, 'names'))
    symlinkSync('nowhere', join(folder, 'names', 'link'))
    mkdirSync(join(folder, 'names', 'sub'))
    for (const shell of SHELLS) {
      for (const name of NAMES) {
        const written = run(shell, WRITE_SCRIPT, [`names/${name}`, '4'], 'data and more')
        equal([written.status, written.stderr], [0, ''], `${shell} ${name}`)
        is(readFileSync(join(folder, 'names', name), 'utf8'), 'data')
        is(run(shell, READ_SCRIPT, [`names/${name}`, '1', '2']).stdout, 'at', `${shell} ${name}`)
      }
      const { files, hasMore } = filesIn(run(shell, LIST_SCRIPT, ['names', '0', '500']).stdout)
      is(hasMore, false)
      const expected = [...NAMES.map((name) => [name, 'file']), ['link', 'link'], ['sub', 'folder']]
      equal(files.map(({ name, kind }) => [name, kind]).toSorted(), expected.toSorted(), shell)
      for (const { name, kind, size } of files) if (kind === 'file') is(size, 4, `${shell} ${name}`)
      const pages = ['0', '5', '10'].map((from) => filesIn(run(shell, LIST_SCRIPT, ['names', from, '5']).stdout))
      equal(
        pages.map((page) => [page.files.length, page.hasMore]),
        [
          [5, true],
          [5, true],
          [2, false],
        ],
      )
      equal(
        pages.flatMap((page) => page.files.map(({ name }) => name)),
        files.map(({ name }) => name),
      )
    }
  })

  it('list a folder with nothing in it, and fail without a folder', () => {
    for (const shell of SHELLS) {
      equal(filesIn(run(shell, LIST_SCRIPT, ['.', '0', '5']).stdout), { files: [], hasMore: false }, shell)
      const none = run(shell, LIST_SCRIPT, ['-none', '0', '5'])
      equal([none.status, none.stderr.includes('-none')], [1, true], shell)
    }
  })

  it('leave a file as it was where its content does not arrive whole', () => {
    writeFileSync(join(folder, 'kept'), 'before')
    for (const shell of SHELLS) {
      const cut = run(shell, WRITE_SCRIPT, ['kept', '100'], 'half')
      match(REASONS.get(cut.status ?? 0) ?? '', 'did not arrive whole', shell)
      is(readFileSync(join(folder, 'kept'), 'utf8'), 'before')
      equal(readdirSync(folder), ['kept'])
    }
  })

  it('replace a file in one step, with its mode, and fill one with more names anew', () => {
    for (const shell of SHELLS) {
      const [file, other, link] = ['file', 'other', 'link'].map((name) => join(folder, name)) as [string, string, string]
      writeFileSync(file, 'before')
      chmodSync(file, 0o751)
      symlinkSync('file', link)
      const { ino } = statSync(file)
      equal(run(shell, WRITE_SCRIPT, ['link', '3'], 'new'), { status: 0, stdout: '', stderr: '' }, shell)
      equal([readFileSync(file, 'utf8'), statSync(file).mode & 0o777, statSync(file).ino === ino], ['new', 0o751, false], shell)
      linkSync(file, other)
      equal(run(shell, WRITE_SCRIPT, [file, '5'], 'newer'), { status: 0, stdout: '', stderr: '' }, shell)
      equal([readFileSync(other, 'utf8'), statSync(other).mode & 0o777], ['newer', 0o751], shell)
      run(shell, WRITE_SCRIPT, ['fresh', '1'], 'x')
      is(statSync(join(folder, 'fresh')).mode & 0o777, 0o666 & ~process.umask(), shell)
      equal(readdirSync(folder), ['file', 'fresh', 'link', 'other'])
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    }
  })

  it('put back what was in a file where the disk is full, or where they are told to end', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'berth-mcp-programs-'))
    const PATH = `${programs}:${process.env.PATH}`
    const program = (name: string, script: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    writeFileSync(join(folder, 'kept'), 'before')
    linkSync(join(folder, 'kept'), join(folder, 'more'))
    for (const shell of SHELLS) {
      // Of the new content a part is written, and then there is no room.
      program('cat', 'case "$1" in *write*) head -c 3 "$1"; exit 1 ;; esac\nexec head -c 1000 "$1"')
      is(run(shell, WRITE_SCRIPT, ['kept', '9'], 'new words', { PATH }).status, 84, shell)
      is(readFileSync(join(folder, 'kept'), 'utf8'), 'before', shell)

      program('cat', 'case "$1" in *write*) head -c 3 "$1"; exec sleep 10000 ;; esac\nexec head -c 1000 "$1"')
      const env = { ...environment(), PATH }
      const begun = spawn(shell, ['-c', WRITE_SCRIPT, 'sh', 'kept', '9'], { env, detached: true })
      const over = once(begun, 'exit')
      begun.stdin.end('new words')
      await eventually(() => readFileSync(join(folder, 'kept'), 'utf8') === 'new')
      is(spawnSync(shell, ['-c', END_SCRIPT, 'sh', String(begun.pid)]).status, 0, shell)
      equal([(await over)[0], readFileSync(join(folder, 'kept'), 'utf8')], [84, 'before'], shell)
      equal(readdirSync(folder), ['kept', 'more'], shell)

      program('cat', 'exec head -c 1000 "$1"')
      is(run(shell, WRITE_SCRIPT, ['kept', '6'], 'before', { PATH }).status, 0)
    }
    rmSync(programs, { recursive: true })
  })

  it('neither read nor list what may hold secrets, whatever leads there', () => {
    symlinkSync('/proc/self/environ', join(folder, 'variables'))
    symlinkSync('/proc/self', join(folder, 'self'))
    const files = [
      '/proc/self/environ',
      '//proc/self/environ',
      '/sys/../proc/self/environ',
      'variables',
      './self/environ',
      'self/task/../environ',
    ]
    for (const shell of SHELLS) {
      for (const file of files) {
        const { status, stdout, stderr } = run(shell, READ_SCRIPT, [file, '0', '100000'])
        equal([status, stdout, stderr.includes(CANARY)], [86, '', false], `${shell} ${file}`)
        is(run(shell, READ_SCRIPT, [file, '3', '100000']).stdout, '', `${shell} ${file}`)
      }
      for (const place of ['/proc', '//proc', '/sys', 'self', 'self/fd']) {
        const { status, stdout } = run(shell, LIST_SCRIPT, [place, '0', '500'])
        equal([status, stdout], [86, ''], `${shell} ${place}`)
      }
      is(run(shell, WRITE_SCRIPT, ['self/comm', '1'], 'x').status, 86, shell)
      writeFileSync(join(folder, 'open'), 'seen')
      is(run(shell, READ_SCRIPT, ['self/cwd/open', '0', '10']).stdout, 'seen', shell)
    }
  })

  it('do nothing elsewhere where the project is not there', () => {
    const PROJECT_SOURCE = join(folder, 'none')
    for (const shell of SHELLS) {
      const asked: [string, string[]][] = [
        [COMMAND_SCRIPT, ['', 'pwd']],
        [COMMAND_SCRIPT, ['.', 'pwd']],
        [LIST_SCRIPT, ['.', '0', '5']],
        [READ_SCRIPT, ['package.json', '0', '5']],
        [WRITE_SCRIPT, ['written', '0']],
      ]
      for (const [script, words] of asked) {
        const { status, stdout } = run(shell, script, words, '', { PROJECT_SOURCE })
        equal([status === 0, stdout], [false, ''], `${shell} ${words}`)
      }
      is(run(shell, COMMAND_SCRIPT, [folder, 'pwd'], '', { PROJECT_SOURCE }).stdout, `${folder}\n`, shell)
    }
  })

  it('say that reading has failed', () => {
    const programs = mkdtempSync(join(tmpdir(), 'berth-mcp-programs-'))
    writeFileSync(join(programs, 'tail'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
    writeFileSync(join(folder, 'file'), 'x'.repeat(1_000_000))
    for (const shell of SHELLS) {
      is(run(shell, READ_SCRIPT, ['file', '1', '5'], '', { PATH: `${programs}:${process.env.PATH}` }).status, 3, shell)
      equal(run(shell, READ_SCRIPT, ['file', '1', '5']), { status: 0, stdout: 'xxxxx', stderr: '' }, shell)
    }
    rmSync(programs, { recursive: true })
  })

  it('run programs only: nothing of the shell, and nothing of env', () => {
    const words = [
      ['eval', 'echo run'],
      ['exec', 'echo', 'run'],
      ['-', 'echo', 'run'],
      ['A=b', 'echo', 'run'],
      ['', 'echo', 'run'],
      [],
    ]
    for (const shell of SHELLS)
      for (const command of words) {
        const { status, stdout } = run(shell, COMMAND_SCRIPT, ['', ...command])
        equal([status, stdout], [127, ''], `${shell} ${command}`)
      }
  })

  it('run a command with its words as they are, in its folder, and end as it does', () => {
    mkdirSync(join(folder, '-in'))
    for (const shell of SHELLS) {
      const { status, stdout } = run(
        shell,
        COMMAND_SCRIPT,
        ['-in', 'sh', '-c', 'pwd; printf "[%s]" "$@"; cat; exit 7', 'x', ...NAMES],
        'typed',
      )
      is(status, 7, shell)
      match(stdout, join(folder, '-in'))
      ok(stdout.endsWith(`${NAMES.map((name) => `[${name}]`).join('')}typed`), shell)
    }
  })

  it('end a command with all that it has started', async () => {
    for (const shell of SHELLS) {
      const begun = spawn(
        shell,
        ['-c', `${WITH_ID}${COMMAND_SCRIPT}`, 'sh', '', 'sh', '-c', 'sleep 10000 & echo "$!"; wait; true'],
        {
          detached: true,
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      let said = ''
      begun.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      const [id = '', child = ''] = await eventually(() => /^\d+\n\d+\n/.test(said) && said.split('\n'))
      is(Number(id), begun.pid)
      is(spawnSync(shell, ['-c', END_SCRIPT, 'sh', id]).status, 0, shell)
      await eventually(() => isGone(Number(child)) && isGone(Number(id)))
      is(spawnSync(shell, ['-c', END_SCRIPT, 'sh', id]).status, 0, shell)
    }
  })

  it('let a command put away what it has begun, and kill one that does not want to end', async () => {
    const stubborn = 'trap "echo told > told" TERM; echo begun; while :; do sleep 0.1; done'
    for (const shell of SHELLS) {
      const begun = spawn(shell, ['-c', `${WITH_ID}${COMMAND_SCRIPT}`, 'sh', folder, 'sh', '-c', stubborn], { detached: true })
      const over = once(begun, 'exit')
      let said = ''
      begun.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      await eventually(() => said.includes('begun'))
      const children = readFileSync(`/proc/${begun.pid}/task/${begun.pid}/children`, 'utf8').trim().split(' ')
      is(spawnSync(shell, ['-c', END_SCRIPT, 'sh', String(begun.pid)]).status, 0, shell)
      await over
      await eventually(() => children.every((child) => isGone(Number(child))))
      is(readFileSync(join(folder, 'told'), 'utf8'), 'told\n', shell)
      rmSync(join(folder, 'told'))
    }
  })
})

/** A zombie that nobody has asked for is gone, too. */
function isGone(id: number): boolean {
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${id}/status`, 'utf8'))
  } catch {
    return true
  }
}
