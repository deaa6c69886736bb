import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { IDLE_SCRIPT } from '../../../../src/operator/workspace/desired/idle.ts'
import { describe } from '../../../support/suite.ts'
import { eventually } from '../../../support/verbs.ts'

const SHELLS = ['dash', 'bash']
/** Its first process is that of a container: no signal reaches it that it has not asked for. */
const CONTAINER = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child=KILL']

const lacksNamespaces = (): string | undefined =>
  spawnSync('unshare', [...CONTAINER, 'true']).status === 0 ? undefined : 'no process may have namespaces of its own here'

describe(
  'workspace: a container that only waits',
  (it) => {
    const folder = mkdtempSync(join(tmpdir(), 'idle-'))
    const running: ChildProcess[] = []
    it.after(() => {
      for (const each of running) each.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    })

    /** The script after others that its own shell runs; the number of its first process, as it is called here. */
    async function start(shell: string, before = '') {
      const child = spawn('unshare', [...CONTAINER, shell, '-c', `${before}\n${IDLE_SCRIPT}`], { stdio: 'ignore' })
      running.push(child)
      const childrenOf = (pid: number | undefined) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
      const first = Number(await eventually(() => childrenOf(child.pid) || undefined))
      const isWaiting = () => /tail/.test(namesOf(childrenOf(first)))
      await eventually(isWaiting)
      const ended = once(child, 'exit')
      return {
        children: () => namesOf(childrenOf(first)),
        async endBy(signal: NodeJS.Signals | number) {
          process.kill(first, signal)
          const [code] = await ended
          return code
        },
      }
    }
    const namesOf = (pids: string) =>
      pids
        .split(' ')
        .filter(Boolean)
        .map((pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^\d+ /, '').slice(0, 30))
        .join(' ')

    for (const shell of SHELLS) {
      it(`ends when it is asked to, by whatever signal the image names, in ${shell}`, async () => {
        for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGWINCH', 37] as const)
          assert.is(await (await start(shell)).endBy(signal), 0, String(signal))
      })

      it(`lets end what still runs, in ${shell}`, async () => {
        const note = join(folder, `${shell}-cleaned`)
        const server = `trap 'sleep 1; echo cleaned >${note}; exit' TERM; : >${note}-heard; while :; do sleep 0.1; done`
        const container = await start(shell, `sh -c "(${server}) & exit"`)
        await eventually(() => existsSync(`${note}-heard`))
        assert.is(await container.endBy('SIGTERM'), 0)
        assert.is(readFileSync(note, 'utf8'), 'cleaned\n')
      })

      it(`takes in what has lost its parent, in ${shell}`, async () => {
        const container = await start(shell, `sh -c '(sleep 0.5) & (sleep 0.5) & exit'`)
        await eventually(() => /^\(tail\) S[^(]*$/.test(container.children()))
        assert.is(await container.endBy('SIGTERM'), 0)
      })
    }

    it('ends as it ever did where the image has no tail', async () => {
      const { status } = spawnSync('/bin/sh', ['-c', IDLE_SCRIPT], { env: { PATH: folder } })
      assert.is(status, 127)
    })
  },
  lacksNamespaces(),
)
