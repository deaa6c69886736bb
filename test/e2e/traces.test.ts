import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { cgroupOf } from '../../src/adapters/control-plane/node/node.ts'
import { endAllIn } from '../runner/left-behind.ts'
import { lacksNode, nodeCluster } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

/** What stands in /etc, and which names there are elsewhere: others write to the files there all the time. */
const machine = () => ({
  etc: pathsIn('/etc').map((path) => `${path} ${contentOf(path)}`),
  names: [...pathsIn('/run'), ...pathsIn('/var'), ...mounts()],
})

/** Where something is mounted, and of which kind it is. */
const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .trim()
    .split('\n')
    .map((line) => `mount ${line.split(' ')[4]} ${line.split(' - ')[1]}`)

const pathsIn = (folder: string): string[] => [
  folder,
  ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
]

function contentOf(path: string): string {
  const { mode, uid, gid, size } = lstatSync(path)
  const stat = [mode, uid, gid].join(' ')
  if (lstatSync(path).isSymbolicLink()) return `${stat} ${readlinkSync(path)}`
  return lstatSync(path).isFile() ? `${stat} ${size} ${createHash('sha256').update(readFileSync(path)).digest('hex')}` : stat
}

function compare(before: ReturnType<typeof machine>, dir: string): void {
  const after = machine()
  assert.equal(after.etc, before.etc)
  const missingIn = (some: readonly string[], others: readonly string[]) => {
    const known = new Set(others)
    return some.filter((name) => !known.has(name))
  }
  assert.equal(missingIn(before.names, after.names), [], 'nothing is gone')
  const added = missingIn(after.names, before.names)
  assert.equal(
    added.filter((name) => name.includes(dir) || OURS.test(name)),
    [],
    'nothing of the node is seen',
  )
}

const OURS = /containerd|kubelet|cni|runc|netns|overlay/

const cgroups = (dir: string): string[] => globSync(`/sys/fs/cgroup/*/${cgroupOf(dir)}`)

describe(
  'the machine on which a node has run',
  (it) => {
    const home = mkdtempSync(join(tmpdir(), 'berth-traces-'))
    it.after(() => rmSync(home, { recursive: true }))

    it('is as it was before, also while the node runs', async () => {
      const before = machine()
      const cluster = await nodeCluster(undefined, { hasEgress: true })
      await cluster.kubectl('run', 'a', '--image=localhost/busybox:1', '--', 'sleep', '1000')
      await cluster.kubectl('wait', '--for=condition=Ready', 'pod/a', '--timeout=120s')
      compare(before, cluster.dir)
      assert.is.not(cgroups(cluster.dir).length, 0)
      await cluster.remove()
      compare(before, cluster.dir)
      assert.equal(cgroups(cluster.dir), [])
      assert.equal(processesOf(cluster.dir), [])
    })

    for (const [what, kill] of [
      ['the process that started the node was killed', () => undefined],
      ['everything was killed that worked in its folder', endAllIn],
    ] as const)
      it(`is as it was before when ${what}`, async () => {
        const before = machine()
        const dir = join(mkdtempSync(join(realpathSync(home), 'killed-')), 'node')
        const script = `const { nodeCluster } = await import(${JSON.stringify(new URL('../support/node.ts', import.meta.url).href)})
        await nodeCluster(${JSON.stringify(dir)}, { hasEgress: true })
        console.log('up')
        setInterval(() => undefined, 1000)`
        const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
        const up = Promise.withResolvers<void>()
        child.stdout.once('data', () => up.resolve())
        child.once('exit', () => up.reject(new Error('it ended before the node was up')))
        await up.promise
        // The way out has a folder of its own, and names the network that it leads out of.
        const network = `/proc/${readFileSync(join(dir, 'node', 'pid'), 'utf8').trim()}/ns/net`
        for (const name of [dir, network]) assert.is.not(processesOf(name).length, 0)
        assert.is.not(cgroups(dir).length, 0)
        child.kill('SIGKILL')
        kill(dir)
        for (const name of [dir, network]) await eventually(() => processesOf(name).length === 0)
        await eventually(() => cgroups(dir).length === 0)
        compare(before, dir)
      })

    it('keeps its mounts where they are shared, as systemd has them', async () => {
      const script = `const { readFileSync } = await import('node:fs')
        const { nodeCluster } = await import(${JSON.stringify(new URL('../support/node.ts', import.meta.url).href)})
        const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8').split('\\n').map((line) => line.split(' ').slice(3, 5).join(' '))
        const before = mounts()
        const cluster = await nodeCluster(undefined, { hasEgress: true })
        const during = mounts()
        await cluster.remove()
        console.log(JSON.stringify([before, during, mounts()]))`
      // Private first: nothing is to get from here to the machine's own mounts, whatever goes wrong.
      const shared = ['--mount', '--propagation', 'private', 'unshare', '--mount', '--propagation', 'shared']
      const words = [...shared, process.execPath, '--input-type=module', '--eval', script]
      const { stdout } = await promisify(execFile)('unshare', words)
      const [before, during, after]: string[][] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
      assert.ok((before?.length ?? 0) > 5)
      assert.equal(during, before)
      assert.equal(after, before)
    })
  },
  await lacksNode(),
)

/** Those whose command line has this text. */
const processesOf = (text: string): string[] =>
  globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes(text) && !file.includes(`/${process.pid}/`)
    } catch {
      return false
    }
  })
