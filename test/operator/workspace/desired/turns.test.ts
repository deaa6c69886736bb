import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ConfigMap, ConfigMaps } from '../../../../src/api/index.ts'
import { parseDevfile } from '../../../../src/devfile/index.ts'
import { desiredBeside, desiredObjects, type WorkspacePlan } from '../../../../src/operator/workspace/desired/index.ts'
import { describe } from '../../../support/suite.ts'
import { eventually } from '../../../support/verbs.ts'

const workspace = { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: { name: 'web', uid: '1' }, spec: {} }

const component = (name: string, more = '') => `  - { name: ${name}, container: { image: i, mountSources: false${more} } }\n`
const THREE = ['tools', 'db', 'cache'].map((name) => component(name)).join('')
const exec = (id: string, name: string, line: string, attributes = '') =>
  `  - { id: ${id}, attributes: { ${attributes} }, exec: { component: ${name}, commandLine: ${JSON.stringify(line)} } }\n`

async function planOf(commands: string, postStart: string, components = THREE): Promise<WorkspacePlan> {
  const text = `schemaVersion: 2.2.0\ncomponents:\n${components}commands:\n${commands}events: { postStart: ${postStart} }\n`
  const read = await parseDevfile(text)
  if (!('devfile' in read)) throw assert.unreachable(JSON.stringify(read.problems))
  return { workspace, settings: {}, devfile: read.devfile, namespace: 'space', variables: {} }
}

const podOf = (plan: WorkspacePlan) => desiredObjects(plan).deployment.spec?.template.spec
const filesOf = (plan: WorkspacePlan) =>
  desiredObjects(plan).pieces.find((piece): piece is { kind: typeof ConfigMaps; object: ConfigMap } => piece.kind === ConfigMaps)
    ?.object.data ?? {}
const hasBusybox = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'busybox')))
const SHELLS = ['dash', 'bash', ...(hasBusybox ? ['busybox sh'] : [])]

describe('workspace: commands of several containers at its start', (it) => {
  const folders: string[] = []
  const children: ChildProcess[] = []
  it.after(() => {
    for (const { pid } of children) killGroup(pid)
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** The containers of a pod, as their hooks and the probe are run by a kubelet, in one folder. */
  async function startPod(commands: string, events: string, shell: string) {
    const root = mkdtempSync(join(tmpdir(), 'turns-'))
    folders.push(root)
    const plan = await planOf(commands.replaceAll('ROOT', root), events)
    for (const folder of ['scripts', 'turns', 'logs']) mkdirSync(join(root, folder))
    for (const [name, text] of Object.entries(filesOf(plan))) writeFileSync(join(root, 'scripts', name), text)
    const containers = podOf(plan)?.containers ?? []
    const [program = '', ...words] = shell.split(' ')
    const here = (command: readonly string[] | undefined, name: string) =>
      (command ?? []).slice(1).map((word) => {
        if (word === '/dev/termination-log') return join(root, `told.${name}`)
        if (word === '/proc/1/fd/2') return join(root, `aloud.${name}`)
        return word.replace('/.workspace-data/', `${root}/`)
      })
    const run = (args: string[]) => {
      const child = spawn(program, [...words, ...args], { cwd: root, detached: true })
      children.push(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          output += chunk
        })
      const ended = new Promise<{ code: number | null; output: string }>((done) =>
        child.on('close', (code) => done({ code, output })),
      )
      return { ended, end: () => killGroup(child.pid) }
    }
    const running = new Map<string, () => void>()
    const of = (name: string) => containers.find((each) => each.name === name)
    return {
      root,
      /** Starts a container, for a second time after it has ended. */
      async hook(name: string) {
        running.get(name)?.()
        const { ended, end } = run([...here(of(name)?.lifecycle?.postStart?.exec?.command, name), join(root, `aloud.${name}`)])
        running.set(name, end)
        return ended
      },
      probe: (name: string) => run(here(of(name)?.startupProbe?.exec?.command, name)).ended,
      text: (name: string) => readFileSync(join(root, name), { encoding: 'utf8', flag: 'a+' }),
    }
  }

  for (const shell of SHELLS) {
    it(`keep the order of the devfile, whichever container begins first, and hold up no hook, in ${shell}`, async () => {
      const pod = await startPod(
        exec('one', 'db', 'echo one >> ROOT/order') +
          exec('two', 'tools', 'echo two >> ROOT/order') +
          exec('three', 'db', 'echo three >> ROOT/order'),
        '[one, two, three]',
        shell,
      )
      assert.equal(await pod.hook('tools'), { code: 0, output: '' })
      const probe = pod.probe('db')
      assert.is(existsSync(join(pod.root, 'order')), false)
      assert.is((await pod.hook('db')).code, 0)
      assert.equal(await probe, { code: 0, output: '' })
      assert.is(pod.text('order'), 'one\ntwo\nthree\n')
    })

    it(`run side by side what is parallel, and let one wait for another container, in ${shell}`, async () => {
      const meet = (own: string, other: string) => `touch ROOT/${own}; while [ ! -e ROOT/${other} ]; do sleep 0.1; done`
      const all = '  - { id: all, composite: { commands: [a, b], parallel: true } }\n'
      const pod = await startPod(exec('a', 'tools', meet('a', 'b')) + exec('b', 'db', meet('b', 'a')) + all, '[all]', shell)
      await pod.hook('tools')
      await pod.hook('db')
      assert.is((await pod.probe('db')).code, 0)
    })

    it(`tell of one that fails where the pod is judged, and try it again when that container is started again, in ${shell}`, async () => {
      const fails = 'echo no such package; [ -e ROOT/mended ] || exit 7'
      const pod = await startPod(
        exec('zero', 'db', 'echo zero >> ROOT/order') + exec('one', 'tools', fails) + exec('two', 'db', 'echo two >> ROOT/order'),
        '[zero, one, two]',
        shell,
      )
      await pod.hook('tools')
      await pod.hook('db')
      const { code, output } = await pod.probe('db')
      assert.is(code, 1)
      const first = /^command postStart\.tools\.1\.one ended with exit code 7; its log is \S+\/postStart\.tools\.1\.one\.log\n/
      assert.match(output, first)
      assert.match(pod.text('told.db'), first)
      assert.ok(pod.text('told.db').endsWith('.log\nno such package\nexit code 7\n'))
      assert.is(pod.text('aloud.db'), pod.text('told.db'))
      assert.is(pod.text('aloud.tools'), pod.text('told.db'))
      assert.is(pod.text('order'), 'zero\n')

      writeFileSync(join(pod.root, 'mended'), '')
      await pod.hook('db')
      assert.is((await pod.probe('db')).code, 0)
      assert.is(pod.text('order'), 'zero\nzero\ntwo\n')
    })

    it(`count on a container that was started again in the middle, in ${shell}`, async () => {
      const pod = await startPod(
        exec('one', 'tools', 'echo one >> ROOT/order; [ -e ROOT/go ] || sleep 20') + exec('two', 'db', 'echo two >> ROOT/order'),
        '[one, two]',
        shell,
      )
      await pod.hook('tools')
      await pod.hook('db')
      const probe = pod.probe('db')
      await eventually(() => pod.text('order') === 'one\n')
      writeFileSync(join(pod.root, 'go'), '')
      await pod.hook('tools')
      assert.is((await probe).code, 0)
      assert.is(pod.text('order'), 'one\none\ntwo\n')
      assert.equal(readdirSync(join(pod.root, 'turns')).sort(), ['1.tools', '2.db', 'over.db', 'over.tools'])
    })
  }
})

describe('workspace: turns of containers', (it) => {
  const twice = exec('a', 'tools', 'true') + exec('b', 'db', 'true')
  const probes = (plan: WorkspacePlan) =>
    (podOf(plan)?.containers ?? []).map(({ name, startupProbe }) => `${name} ${Object.keys(startupProbe ?? {})[0] ?? ''}`.trim())

  it('are waited for by one that has no other probe', async () => {
    const port = (attribute: string) => `, endpoints: [{ name: x, targetPort: 80, attributes: { ${attribute} } }]`
    assert.equal(probes(await planOf(twice, '[a, b]')), ['tools', 'db exec', 'cache'])
    const asked = component('tools') + component('db', port("'berth.dev/probe': tcp"))
    assert.equal(probes(await planOf(twice, '[a, b]', asked)), ['tools exec', 'db tcpSocket'])
  })

  it('are none where one container has all commands, or each has a pod or a probe of its own', async () => {
    const port = ", endpoints: [{ name: NAME, targetPort: PORT, attributes: { 'berth.dev/probe': tcp } }]"
    const asked = (name: string, number: string) => component(name, port.replace('NAME', name).replace('PORT', number))
    for (const plan of [
      await planOf(exec('a', 'tools', 'true') + exec('b', 'tools', 'true'), '[a, b]'),
      await planOf(twice, '[a, b]', component('tools') + component('db', ', dedicatedPod: true')),
      await planOf(twice, '[a, b]', asked('tools', '80') + asked('db', '81')),
      { ...(await planOf(twice, '[a, b]')), form: 1 },
    ]) {
      assert.is(
        podOf(plan)?.volumes?.some(({ name }) => name === 'workspace-turns'),
        false,
      )
      assert.is(filesOf(plan)['take-turns'], undefined)
      assert.match(filesOf(plan)['postStart.tools'] ?? '', /^postStart\.tools\.1\.a wait 300 end\n/)
    }
  })

  it('have time for all steps, one after the other', async () => {
    const limit = (seconds: number) => `'berth.dev/timeout-seconds': ${seconds}`
    const commands =
      exec('a', 'tools', 'true', limit(10)) + exec('b', 'db', 'true', limit(200)) + exec('c', 'tools', 'true', limit(3000))
    const both = '  - { id: both, composite: { commands: [a, b], parallel: true } }\n'
    const deadline = async (events: string) =>
      desiredObjects(await planOf(commands + both, events)).deployment.spec?.progressDeadlineSeconds
    assert.is(await deadline('[a, b, c]'), 600 + 10 + 200 + 3000)
    assert.is(await deadline('[both, c]'), 600 + 200 + 3000)
  })

  it('come with the next pod, and not with an upgrade', async () => {
    const plan = await planOf(twice, '[a, b]')
    const { deployment: live } = desiredObjects({ ...plan, form: 1 })
    assert.equal(desiredBeside(plan, live).deployment, live)
    const isStopped = { workspace: { ...workspace, spec: { desiredState: 'Stopped' as const } } }
    const { deployment: stopped } = desiredObjects({ ...plan, ...isStopped, form: 1 })
    assert.equal(desiredBeside(plan, stopped).deployment, desiredObjects(plan).deployment)
  })
})

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody of it is there any more.
  }
}
