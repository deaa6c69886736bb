import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import type { Workspace } from '../../src/api/index.ts'
import { minutes, pause, seconds, systemClock } from '../../src/std/index.ts'
import { startBerth } from '../cli/berth.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

const devfile = (container: string, rest = '') => `schemaVersion: 2.2.0
components: [{ name: tools, container: { image: 'busybox:1', mountSources: false, ${container} } }]
${rest}`
const own = (script: string) => devfile(`command: [sh, -c], args: ['${script}']`)
const atStart = (commands: string, events: string) =>
  devfile(
    "memoryLimit: 64Mi, command: [tail], args: ['-f', '/dev/null']",
    `commands:\n${commands}events: { postStart: [${events}] }\n`,
  )

/** Two containers with commands; the second is there for whoever waits for it. They have the folder of projects in common. */
const two = (commands: string, events: string) => {
  const container = (name: string, script: string) =>
    `  - { name: ${name}, container: { image: 'busybox:1', memoryLimit: 64Mi, command: [sh, -c], args: ['${script}'] } }\n`
  const components = container('tools', 'exec tail -f /dev/null') + container('db', ': > /projects/up; exec tail -f /dev/null')
  return `schemaVersion: 2.2.0\ncomponents:\n${components}commands:\n${commands}events: { postStart: [${events}] }\n`
}
const exec = (id: string, component: string, line: string) =>
  `  - { id: ${id}, exec: { component: ${component}, commandLine: '${line}', workingDir: /projects } }\n`

const PATIENT = { within: minutes(2) }

describe(
  'what a real kubelet shows of workspaces that fail, and what people are told of it',
  (it) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-failures-')))
    const dir = join(root, 'berth')
    const env = { KUBECONFIG: join(dir, 'kubeconfig') }
    const berth = (...words: string[]) => startBerth(words, { env }).ended
    const kubectl = async (...words: string[]) => {
      const { paths } = await acquireTools({ env: process.env })
      return (await promisify(execFile)(paths.kubectl ?? '', ['--kubeconfig', env.KUBECONFIG, ...words])).stdout
    }
    const create = async (name: string, text: string, ...more: string[]) => {
      writeFileSync(join(root, `${name}.yaml`), text)
      return berth('create', name, '-n', 'default', '--devfile', join(root, `${name}.yaml`), ...more)
    }
    const statusOf = async (name: string): Promise<NonNullable<Workspace['status']>> =>
      JSON.parse(await kubectl('get', 'workspace', name, '-n', 'default', '-o', 'json')).status ?? {}
    const becomes = (name: string, state: string) =>
      eventually(async () => {
        const status = await statusOf(name)
        return status.actualState === state ? status : undefined
      }, PATIENT)
    /** Every state and reason that it has within a time. */
    const statesOf = async (name: string, within: number) => {
      const states = new Set<string>()
      for (const end = systemClock.now() + within; systemClock.now() < end; await pause(systemClock, seconds(0.2))) {
        const { actualState, failure } = await statusOf(name)
        states.add(`${actualState} ${failure?.reason}`)
      }
      return [...states]
    }

    it.before(async () => {
      const { code, stdout, stderr } = await startBerth(['up', '--node', '--detach', '--dir', dir]).ended
      assert.is(code, 0, `${stdout}\n${stderr}`)
    })
    it.after(async () => {
      await startBerth(['down', '--dir', dir]).ended
      rmSync(root, { recursive: true, force: true })
    })

    it('lets a crash loop be Failed, and stay so while the kubelet starts it again and again', async () => {
      await create('crash', own('sleep 3; exit 3'))
      await create('done', own('exit 0'))
      assert.is((await becomes('crash', 'Failed')).failure?.reason, 'CrashLoopBackOff')
      assert.is((await becomes('done', 'Failed')).failure?.reason, 'ContainerCompleted')
      const all = await Promise.all([statesOf('crash', minutes(1)), statesOf('done', minutes(1))])
      assert.equal(all, [['Failed CrashLoopBackOff'], ['Failed ContainerCompleted']])
      assert.match((await statusOf('crash')).failure?.message ?? '', /exit code 3/)
      assert.match((await statusOf('crash')).failure?.tried ?? '', /started [3-9] times/)
    })

    it('lets create --watch fail for one that is Running for a moment, and be done for one that stays', async () => {
      const moment = await create('moment', own('sleep 5; exit 3'), '--watch')
      assert.match(moment.stdout, /moment is Running, after/)
      assert.is(moment.code, 1, moment.stderr)
      assert.match(moment.stderr.replace(/\s+/g, ' '), /moment is not Running but Failed: .*exit code 3/)
      const stays = await create('stays', own('sleep 1000000'), '--watch')
      assert.is(stays.code, 0, stays.stderr)
      assert.is(stays.stdout.match(/is Running, after/g)?.length, 1)
    })

    it('lets one be Running that was started again and stays up', async () => {
      await create('once', own('sleep 1000000; exit 1'))
      await becomes('once', 'Running')
      const pod = (await kubectl('get', 'pods', '-A', '-o', 'name', '-l', 'berth.dev/workspace=once')).trim()
      const { target } = await statusOf('once')
      await kubectl('exec', '-n', target?.namespace ?? '', pod, '--', 'sh', '-c', 'kill -TERM $(pidof sleep)').catch(() => '')
      await eventually(async () => (await statusOf('once')).waiting?.reason === 'ContainerRestarting', PATIENT)
      await becomes('once', 'Running')
    })

    it('tells of a postStart command that fails what it was, how it ended, and the end of its log', async () => {
      await create(
        'hook',
        atStart("  - { id: inst, exec: { component: tools, commandLine: 'echo no such package; exit 2' } }\n", 'inst'),
      )
      const { failure } = await becomes('hook', 'Failed')
      assert.is(failure?.reason, 'PostStartFailed')
      await eventually(async () => {
        const { failure: now } = await statusOf('hook')
        return /command postStart\.tools\.1\.inst ended with exit code 2; its log is .* \| no such package \| /.test(
          now?.message ?? '',
        )
      }, PATIENT)
      const described = (await berth('describe', 'hook', '-n', 'default')).stdout.replace(/\s+/g, ' ')
      assert.match(described, /postStart\.tools\.1\.inst ended with exit code 2; .*no such package/)
      const log = await eventually(async () => {
        const { stdout } = await berth('logs', 'hook', '-n', 'default')
        return stdout.includes('no such package') ? stdout : undefined
      }, PATIENT)
      assert.match(log, /^command postStart\.tools\.1\.inst ended with exit code 2; /m)
      assert.equal(await statesOf('hook', seconds(30)), ['Failed PostStartFailed'])
    })

    const inside = async (name: string, script: string) => {
      const pod = (await kubectl('get', 'pods', '-A', '-o', 'name', '-l', `berth.dev/workspace=${name}`)).trim()
      const { target } = await statusOf(name)
      return kubectl('exec', '-n', target?.namespace ?? '', pod, '-c', 'tools', '--', 'sh', '-c', script)
    }

    it('keeps the order of postStart commands across containers, of which one may wait for another', async () => {
      const all = '  - { id: both, composite: { commands: [left, right], parallel: true } }\n'
      const meet = (mine: string, other: string) => `: > ${mine}; until [ -e ${other} ]; do sleep 0.1; done`
      const commands =
        exec('first', 'db', 'sleep 2; echo first >> order') +
        exec('second', 'tools', 'until [ -e up ]; do sleep 0.1; done; echo second >> order') +
        exec('left', 'tools', meet('l', 'r')) +
        exec('right', 'db', meet('r', 'l')) +
        exec('last', 'db', 'echo last >> order') +
        all
      const { code, stderr } = await create('order', two(commands, 'first, second, both, last'), '--watch')
      assert.is(code, 0, stderr)
      assert.is(await inside('order', 'cat /projects/order'), 'first\nsecond\nlast\n')
      const restarts = 'jsonpath={.items[*].status.containerStatuses[*].restartCount}'
      assert.is(await kubectl('get', 'pods', '-A', '-o', restarts, '-l', 'berth.dev/workspace=order'), '0 0')
    })

    it('gives postStart commands a home that they may write where neither image nor devfile says one', async () => {
      const line = (home: string) => `echo x >> "$HOME/.rc"; [ "$HOME" = ${home} ]`
      const commands = (home: string) => `  - { id: rc, exec: { component: tools, commandLine: '${line(home)}' } }\n`
      await create('homeless', atStart(commands('/tmp'), 'rc'))
      const another = atStart(commands('/dev/shm'), 'rc').replace(
        'memoryLimit',
        'env: [{ name: HOME, value: /dev/shm }], memoryLimit',
      )
      await create('at-home', another)
      await becomes('homeless', 'Running')
      await becomes('at-home', 'Running')
    })

    it('tells of a postStart command that fails before those of another container, and goes on when it is mended', async () => {
      const commands =
        exec('check', 'tools', 'echo no such schema; [ -e mended ] || exit 6') + exec('after', 'db', 'echo after >> order')
      await create('before', two(commands, 'check, after'))
      assert.is((await becomes('before', 'Failed')).failure?.reason, 'PostStartFailed')
      assert.equal(await statesOf('before', seconds(30)), ['Failed PostStartFailed'])
      assert.match(
        (await statusOf('before')).failure?.message ?? '',
        /command postStart\.tools\.1\.check ended with exit code 6; its log is .* \| no such schema \| /,
      )
      const log = await berth('logs', 'before', '-n', 'default')
      assert.match(log.stdout, /^command postStart\.tools\.1\.check ended with exit code 6; /m)
      assert.is(await inside('before', 'ls /projects'), 'up\n')
      await inside('before', ': > /projects/mended')
      await becomes('before', 'Running')
      assert.is(await inside('before', 'cat /projects/order'), 'after\n')
    })

    it('ends a postStart command that takes too long and does not want to end', async () => {
      const limit = "attributes: { 'berth.dev/timeout-seconds': 1 }"
      const line = 'trap "" TERM; while :; do sleep 1; done'
      await create('deaf', atStart(`  - { id: deaf, ${limit}, exec: { component: tools, commandLine: '${line}' } }\n`, 'deaf'))
      const { failure } = await becomes('deaf', 'Failed')
      assert.is(failure?.reason, 'PostStartFailed')
      await eventually(async () => /deaf took too long; /.test((await statusOf('deaf')).failure?.message ?? ''), PATIENT)
    })

    it('tells in the log of the container of a command in the background that fails', async () => {
      const attributes = "attributes: { 'berth.dev/background': true }"
      const lines = `  - { id: bg, ${attributes}, exec: { component: tools, commandLine: 'echo no port; exit 4' } }\n`
      await create('background', atStart(lines, 'bg'))
      await becomes('background', 'Running')
      const log = await eventually(async () => {
        const { stdout } = await berth('logs', 'background', '-n', 'default')
        return stdout.includes('no port') ? stdout : undefined
      }, PATIENT)
      const earlier = await berth('logs', 'background', '-n', 'default', '--previous')
      assert.equal([earlier.code, earlier.stdout], [0, ''])
      assert.match(earlier.stderr, /There was no run before this one/)
      assert.match(log, /background command postStart\.tools\.1\.bg ended with exit code 4; /)
    })

    it('tells at once of an image that is to bring an editor and brings none', async () => {
      await kubectl(
        'patch',
        'workspaceclass',
        'default',
        '--type=merge',
        '-p',
        '{"spec":{"editor":{"image":"busybox:1","port":60001}}}',
      )
      await create('editor', devfile("command: [tail], args: ['-f', '/dev/null']"))
      const { failure } = await becomes('editor', 'Failed')
      assert.is(failure?.reason, 'EditorNotBrought')
      assert.match(failure?.remedy ?? '', /editor\.image/)
    })
  },
  await lacksNode(),
)
