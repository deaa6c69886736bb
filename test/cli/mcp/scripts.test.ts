import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import {
  COMMAND_SCRIPT,
  END_SCRIPT,
  filesIn,
  LIST_SCRIPT,
  READ_SCRIPT,
  WITH_ID,
  WRITE_SCRIPT,
} from '../../../src/cli/mcp/scripts.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Those of distributions; that of busybox is tried in a pod. */
const SHELLS = ['sh', 'dash', 'bash'].filter((shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0)
const NAMES = ['-', '-rf', 'a b;$(touch x)', 'new\nline', '*', '.hidden', '..odd', '[x]', 'ü', '\\n']

describe('the scripts of berth mcp', (it) => {
  let folder = ''
  it.beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-mcp-scripts-'))
  })
  it.afterEach(() => rmSync(folder, { recursive: true }))

  const run = (shell: string, script: string, words: string[], input: string | Buffer = '') => {
    // Of a socket bash thinks that somebody has logged in, and reads what is at home.
    const env = { PATH: process.env.PATH, HOME: '/nowhere', PROJECT_SOURCE: folder, CDPATH: '/' }
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
      equal([cut.status, cut.stderr], [1, 'the content did not arrive whole\n'], shell)
      is(readFileSync(join(folder, 'kept'), 'utf8'), 'before')
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
