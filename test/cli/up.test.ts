import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { acquireTools, TOOLS } from '../../src/adapters/control-plane/index.ts'
import { portOf } from '../support/addresses.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { berth, findingsIn, startBerth, tooWide } from './berth.ts'
import { processesIn } from './leftovers.ts'

interface Status {
  components: { name: string; state: string; address: string }[]
  kinds: { kind: string; objects: number }[]
}

/** The process of a program, or of a server of the control plane. */
function pidOf(dir: string, name: string): number {
  const parts: { name: string; pid: number }[] = JSON.parse(readFileSync(join(dir, 'parts.json'), 'utf8'))
  const { pids }: { pids: Record<string, number> } = JSON.parse(readFileSync(join(dir, 'control-plane.json'), 'utf8'))
  return parts.find((part) => part.name === name)?.pid ?? pids[name] ?? 0
}

describe('up', (it) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-up-')))
  const folders = ['one', 'two'].map((name) => join(root, name))
  it.after(async () => {
    for (const dir of [...folders, join(root, 'short')]) await berth(['down', '--dir', dir])
    rmSync(root, { recursive: true, force: true })
  })

  const statusOf = async (dir: string): Promise<Status> =>
    JSON.parse((await berth(['status', '--dir', dir, '-o', 'json'])).stdout)

  it('brings Berth up in two folders at once, once in each, and returns when told to detach', async () => {
    const twice = [...folders, ...folders.slice(0, 1)]
    const ended = await Promise.all(twice.map((dir) => startBerth(['up', '--dir', dir, '--detach']).ended))
    assert.is(ended.filter(({ stderr }) => /Berth is up already in/.test(stderr)).length, 1)
    for (const { code, stderr, stdout } of ended) {
      assert.is(code, 0, stderr)
      assert.match(stdout, 'export KUBECONFIG=')
    }
    const states = await Promise.all(folders.map(statusOf))
    for (const { components } of states) {
      assert.equal(
        components.map(({ name, state }) => `${name} ${state}`),
        ['control-plane running', 'git-server running', 'kas running', 'operator running'],
      )
    }
    const addresses = states.flatMap(({ components }) => components.map(({ address }) => address))
    assert.is(new Set(addresses).size, 8, 'every part has an address of its own')
  })

  it('leaves alone what is up, and says that it is', async () => {
    const [dir = ''] = folders
    const before = processesIn(dir)
    const { code, stdout, stderr } = await berth(['up', '--dir', dir, '--detach'])
    assert.is(code, 0, stderr)
    assert.match(stderr, /^Berth is up already in\s/)
    assert.ok(stderr.includes(dir), stderr)
    for (const line of stderr.split('\n')) assert.ok(line.length <= Math.max(80, dir.length + 1), line)
    assert.equal(tooWide(stdout), [])
    assert.match(stdout, `export KUBECONFIG=${dir}`)
    assert.equal(processesIn(dir), before)
  })

  it('leaves it alone also for a cluster that is named, which may not even answer', async () => {
    const [dir = ''] = folders
    const before = processesIn(dir)
    const file = join(root, 'dead.yaml')
    writeFileSync(file, readFileSync(join(dir, 'kubeconfig'), 'utf8').replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'))
    assert.is((await berth(['up', '--dir', dir, '--kubeconfig', file])).code, 5)
    for (const verb of [['up', '--kubeconfig', join(dir, 'kubeconfig')], ['tour']]) {
      const { code, stderr } = await berth([...verb, '--dir', dir])
      assert.is(code, 7)
      assert.match(stderr, `Berth is up in ${dir} already, with its own cluster. Name another folder, or end it first`)
    }
    assert.equal(processesIn(dir), before)
  })

  it('installs the kinds and what an installation starts with', async () => {
    const { kinds } = await statusOf(folders[0] ?? '')
    const countOf = (wanted: string) => kinds.find(({ kind }) => kind === wanted)?.objects
    assert.is(countOf('DeploymentTargetClass'), 1)
    assert.is(countOf('SpaceTier'), 1)
    assert.is(countOf('WorkspaceClass'), 1)
  })

  it('is found well by the doctor, operator and kas included', async () => {
    const kubeconfig = join(folders[0] ?? '', 'kubeconfig')
    await eventually(async () => {
      const { stdout } = await berth(['doctor', '--kubeconfig', kubeconfig, '-o', 'json'])
      assert.equal(
        findingsIn(stdout).filter(({ mark, check }) => mark === 'fail' || (mark === 'warn' && check === 'kas')),
        [],
      )
      return true
    })
  })

  const gitUrlIn = ({ components }: Status) => components.find(({ name }) => name === 'git-server')?.address
  let gitUrl: string | undefined

  it('goes down folder by folder, and leaves nothing behind', async () => {
    const [one = '', two = ''] = folders
    gitUrl = gitUrlIn(await statusOf(two))
    const first = await berth(['down', '--dir', one, '--remove'])
    assert.is(first.code, 0)
    assert.equal(processesIn(one), [])
    assert.not.ok(existsSync(one))
    assert.is(
      (await statusOf(two)).components.every(({ state }) => state === 'running'),
      true,
    )
    await berth(['down', '--dir', two])
    assert.equal(processesIn(two), [])
    assert.match((await berth(['down', '--dir', two])).stdout, 'Nothing was running')
  })

  it('starts again where it was, and ends with Ctrl-C', async () => {
    const dir = folders[1] ?? ''
    const up = startBerth(['up', '--dir', dir])
    await eventually(() => up.printed().stdout.includes('Ctrl-C ends it'))
    assert.ok(processesIn(dir).length >= 7)
    assert.is(gitUrlIn(await statusOf(dir)), gitUrl, 'remotes name the Git server: it is where it was')
    up.process.kill('SIGINT')
    assert.is((await up.ended).code, 0)
    // The keeper of a server goes a moment after it.
    await eventually(() => processesIn(dir).length === 0)
  })

  it('names the parts that end and their logs, and ends', async () => {
    const dir = folders[1] ?? ''
    for (const name of ['operator', 'kwok']) {
      const up = startBerth(['up', '--dir', dir])
      await eventually(() => up.printed().stdout.includes('Ctrl-C ends it'))
      process.kill(pidOf(dir, name), 'SIGKILL')
      const { code, stderr } = await up.ended
      assert.is(code, 5, stderr)
      assert.match(
        stderr,
        new RegExp(`^berth: ${name} ended(: killed \\(SIGKILL\\))?\\. Read ${dir}/logs/${name}\\.log\\.$`, 'm'),
      )
      await eventually(() => processesIn(dir).length === 0)
    }
  })

  it('ends well when somebody else takes it down', async () => {
    const dir = folders[1] ?? ''
    const up = startBerth(['up', '--dir', dir])
    await eventually(() => up.printed().stdout.includes('Ctrl-C ends it'))
    const down = await berth(['down', '--dir', dir, '--remove'])
    assert.match(down.stdout, `Berth in ${dir} is down. The folder was removed.`)
    const { code, stderr } = await up.ended
    assert.is(code, 0, stderr)
    assert.match(stderr, `Berth in ${dir} was ended by another process.`)
    await eventually(() => processesIn(root).length === 0)
    assert.not.ok(existsSync(dir), 'nobody makes it again')
  })

  it('is waited for by who takes it down while it starts, and is gone then', async () => {
    const dir = join(root, 'short')
    const up = startBerth(['up', '--dir', dir, '--detach'])
    await eventually(() => existsSync(join(dir, 'kubeconfig')))
    const { code, stdout, stderr } = await berth(['down', '--dir', dir, '--remove'])
    assert.is(code, 0, stderr)
    assert.match(stdout, `Berth in ${dir} is down. The folder was removed.`)
    assert.is((await up.ended).code, 0)
    await eventually(() => processesIn(root).length === 0)
    assert.not.ok(existsSync(dir))
  })

  it('is interrupted at once while it connects to a cluster that says nothing', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const reached = once(silent, 'connection')
    const file = join(root, 'silent.yaml')
    const server = `https://127.0.0.1:${portOf(silent)}`
    const cluster = { name: 'a', cluster: { server } }
    const context = { name: 'a', context: { cluster: 'a', user: 'a' } }
    writeFileSync(
      file,
      JSON.stringify({ clusters: [cluster], users: [{ name: 'a', user: {} }], contexts: [context], 'current-context': 'a' }),
    )
    const up = startBerth(['up', '--dir', join(root, 'nowhere'), '--kubeconfig', file])
    await reached
    up.process.kill('SIGINT')
    const { code, stderr } = await up.ended
    silent.close()
    assert.is(code, 130, stderr)
    assert.not.ok(existsSync(join(root, 'nowhere')))
  })

  it('leaves nothing running below a link when it fails', async () => {
    const { paths } = await acquireTools({ env: process.env })
    const assets = join(root, 'half')
    const real = join(root, 'real')
    mkdirSync(assets)
    mkdirSync(real)
    symlinkSync(real, join(root, 'link'))
    for (const [name, path = ''] of Object.entries(paths)) if (name !== 'kubectl') symlinkSync(path, join(assets, name))
    const script = `#!/bin/sh\ncase "$*" in *" -k "*) echo no >&2; exit 1; esac\nexec ${paths.kubectl} "$@"\n`
    writeFileSync(join(assets, 'kubectl'), script, { mode: 0o700 })
    const dir = join(root, 'link', 'below')
    const { code, stderr } = await berth(['up', '--dir', dir, '--detach'], { env: { KUBEBUILDER_ASSETS: assets } })
    assert.is(code, 1, stderr)
    assert.match(stderr, 'berth: kubectl: no.')
    assert.equal(processesIn(real), [])
  })

  it('ends at once, by the signal, when it is interrupted again', async () => {
    const assets = join(root, 'stubborn')
    mkdirSync(assets)
    const script = "#!/bin/sh\ntrap '' TERM\nwhile true; do sleep 1; done\n"
    for (const name of TOOLS) writeFileSync(join(assets, name), script, { mode: 0o700 })
    const dir = join(root, 'twice')
    const up = startBerth(['up', '--dir', dir], { env: { KUBEBUILDER_ASSETS: assets } })
    await eventually(() => processesIn(dir).length > 1)
    await eventually(() => up.process.signalCode !== null || !up.process.kill('SIGINT'))
    await up.ended
    assert.is(up.process.signalCode, 'SIGINT')
    await eventually(() => processesIn(dir).length === 0)
  })

  it('takes everything with it when it is killed', async () => {
    const dir = folders[1] ?? ''
    const up = startBerth(['up', '--dir', dir])
    await eventually(() => up.printed().stdout.includes('Ctrl-C ends it'))
    up.process.kill('SIGKILL')
    await up.ended
    await eventually(() => processesIn(dir).length === 0)
  })

  it('is interrupted while it starts with exit code 130, and leaves nothing behind', async () => {
    const dir = folders[1] ?? ''
    const up = startBerth(['up', '--dir', dir])
    await eventually(() => processesIn(dir).length > 1)
    up.process.kill('SIGTERM')
    assert.is((await up.ended).code, 130)
    await eventually(() => processesIn(dir).length === 0)
  })

  it('removes the folders that it made for a start that failed, but not the logs', async () => {
    const dir = join(root, 'new', 'below')
    const assets = join(root, 'assets')
    const env = { KUBEBUILDER_ASSETS: assets }
    mkdirSync(assets)
    for (const [script, said] of [
      ['exit 1', 'etcd ended while it started. '],
      ['echo no disk; exit 1', 'etcd ended while it started: no disk. '],
    ] as const) {
      // The others go on, so that it is the first of which the end is seen.
      const lines = ['#!/bin/sh', `case "$0" in *etcd) ${script};; esac`, 'exec sleep 600', '']
      for (const name of TOOLS) writeFileSync(join(assets, name), lines.join('\n'), { mode: 0o700 })
      const { code, stderr } = await berth(['up', '--dir', dir], { env })
      assert.is(code, 1, stderr)
      assert.match(stderr, `berth: ${said}Its log is ${dir}/logs/etcd.log.`)
      assert.is(existsSync(join(root, 'new')), script.includes('echo'), stderr)
    }
    assert.equal(readdirSync(dir).sort(), ['.berth-folder', 'logs'])
  })

  it('says what is wrong with a folder that cannot be one', async () => {
    const file = join(root, 'file')
    writeFileSync(file, '')
    for (const [dir, said] of [
      [file, `${file} is no folder`],
      [join(file, 'below'), `${file} is no folder`],
      ['/proc/berth', 'the folder /proc/berth cannot be made'],
    ] as const) {
      const { code, stderr } = await berth(['up', '--dir', dir, '--detach'])
      assert.is(code, 7, stderr)
      assert.match(stderr, said)
    }
    for (const verb of ['down', 'status']) {
      const { code, stderr } = await berth([verb, '--dir', file])
      assert.is(code, 7, stderr)
      assert.match(stderr, `--dir: ${file} is no folder. Name a folder`)
    }
  })
})
