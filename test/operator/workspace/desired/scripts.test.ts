import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ConfigMap, ConfigMaps } from '../../../../src/api/index.ts'
import { parseDevfile } from '../../../../src/devfile/index.ts'
import { desiredObjects } from '../../../../src/operator/workspace/desired/index.ts'
import { describe } from '../../../support/suite.ts'
import { eventually } from '../../../support/verbs.ts'

interface Ended {
  code: number | null
  /** What the kubelet would see of the hook. */
  output: string
  log(name: string): string
  /** What is told when the container ends, or in its log. */
  text(name: 'told' | 'aloud'): string
  root: string
}

const hasBusybox = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'busybox')))
const SHELLS = ['dash', 'bash', ...(hasBusybox ? ['busybox sh'] : [])]

describe('workspace: the commands at events', (it) => {
  const folders: string[] = []
  it.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** The files as a pod has them, run as the kubelet runs them, by a real shell. */
  async function run(
    commands: string,
    events: string,
    shell = 'sh',
    prepare: (root: string) => unknown = () => undefined,
    env: Record<string, string> = {},
  ): Promise<Ended> {
    const root = mkdtempSync(join(tmpdir(), 'scripts-'))
    folders.push(root)
    const scripts = join(root, 'scripts')
    mkdirSync(scripts)
    prepare(root)
    for (const [name, text] of Object.entries(await filesOf(commands.replaceAll('ROOT', root), events)))
      writeFileSync(join(scripts, name), text)
    const logs = join(root, 'logs')
    const [program = '', ...words] = shell.split(' ')
    const ends = [join(root, 'told'), join(root, 'aloud')]
    const child = spawn(program, [...words, join(scripts, 'run'), scripts, logs, 'postStart.tools', ...ends], {
      cwd: root,
      env: { ...process.env, ...env },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    // As the kubelet does, it waits until nobody holds the output any more.
    const code = await new Promise<number | null>((done) => child.on('close', done))
    const text = (name: string) => readFileSync(join(root, name), { encoding: 'utf8', flag: 'a+' })
    return { code, output, root, log: (name) => readFileSync(join(logs, `postStart.tools.${name}.log`), 'utf8'), text }
  }

  async function filesOf(commands: string, events: string): Promise<Record<string, string>> {
    const read = await parseDevfile(`schemaVersion: 2.2.0
components: [{ name: tools, container: { image: i, mountSources: false } }]
commands:
${commands}
events: { postStart: ${events} }
`)
    if (!('devfile' in read)) throw assert.unreachable(JSON.stringify(read.problems))
    const workspace = { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: { name: 'web', uid: '1' }, spec: {} }
    const { pieces } = desiredObjects({ workspace, settings: {}, devfile: read.devfile, namespace: 'space', variables: {} })
    const scripts = pieces.find((piece): piece is { kind: typeof ConfigMaps; object: ConfigMap } => piece.kind === ConfigMaps)
    return scripts?.object.data ?? {}
  }

  const exec = (id: string, line: string, more = '', attributes = '') =>
    `  - { id: ${id}, ${attributes && `attributes: { ${attributes} }, `}exec: { component: tools, commandLine: ${JSON.stringify(line)}${more} } }\n`

  for (const shell of SHELLS) {
    it(`run in their order and leave their logs, in ${shell}`, async () => {
      const { code, log, output } = await run(
        exec('a', 'echo one > ROOT/x') + exec('b', 'cat ROOT/x; echo two >&2'),
        '[a, b]',
        shell,
      )
      assert.is(code, 0)
      assert.is(output, '')
      assert.is(log('2.b'), 'one\ntwo\nexit code 0\n')
    })

    it(`stop at the first that fails, and say which, in ${shell}`, async () => {
      const { code, log, output } = await run(exec('a', 'exit 7') + exec('b', 'echo never'), '[a, b]', shell)
      assert.is(code, 7)
      assert.match(
        output,
        /^command postStart\.tools\.1\.a ended with exit code 7; its log is .*\/postStart\.tools\.1\.a\.log\n$/,
      )
      assert.throws(() => log('2.b'))
    })

    it(`tell the end of the log of one that fails, where people and Kubernetes look for it, in ${shell}`, async () => {
      const line = 'for i in $(seq 40); do echo "line $i"; done; exit 7'
      const { text } = await run(exec('a', 'echo good') + exec('b', line), '[a, b]', shell)
      const [first, ...rest] = text('told').split('\n')
      assert.match(
        first ?? '',
        /^command postStart\.tools\.2\.b ended with exit code 7; its log is \/.*\/postStart\.tools\.2\.b\.log$/,
      )
      assert.equal([rest.length, rest[0], rest.at(-3), rest.at(-2)], [21, 'line 22', 'line 40', 'exit code 7'])
      assert.is(text('aloud'), text('told'))
    })

    it(`tell of a log no more than there is room for, in ${shell}`, async () => {
      const { text } = await run(exec('a', 'head -c 9000 /dev/zero | tr "\\0" x; echo; exit 1'), '[a]', shell)
      assert.ok(text('told').length < 2500 && text('told').endsWith('x\nexit code 1\n'), String(text('told').length))
    })

    it(`tell of one in the background that fails, in ${shell}`, async () => {
      const line = exec('server', 'echo no port; exit 3', '', "'berth.dev/background': true")
      const { code, text } = await run(line + exec('next', 'echo next'), '[server, next]', shell)
      assert.is(code, 0)
      await eventually(() =>
        /^background command postStart\.tools\.1\.server ended with exit code 3; .*\nno port\nexit code 3\n$/.test(text('aloud')),
      )
      assert.is(text('told'), '')
    })

    it(`end a command that takes too long, with what it has started, in ${shell}`, async () => {
      const line = 'sleep 300 & echo $! > ROOT/child; sleep 300'
      // Long enough for its first words on a busy machine.
      const limit = "'berth.dev/timeout-seconds': 3"
      const { code, output, log, root } = await run(exec('slow', line, '', limit), '[slow]', shell)
      assert.is(code, 124)
      assert.match(output, /took too long/)
      assert.match(log('1.slow'), /longer than 3 seconds/)
      const child = Number(readFileSync(join(root, 'child'), 'utf8'))
      await eventually(() => isGone(child))
    })

    it(`do not wait for those in the background, nor hold the hook open, in ${shell}`, async () => {
      const lines = exec(
        'server',
        'while [ ! -e ROOT/stop ]; do sleep 0.1; done; echo stopped',
        '',
        "'berth.dev/background': true",
      )
      const { code, log, root } = await run(lines + exec('next', 'echo next'), '[server, next]', shell)
      assert.is(code, 0)
      assert.is(log('2.next'), 'next\nexit code 0\n')
      writeFileSync(join(root, 'stop'), '')
      await eventually(() => log('1.server') === 'stopped\nexit code 0\n')
    })

    it(`run what is parallel side by side, in ${shell}`, async () => {
      const meet = (own: string, other: string) => `touch ROOT/${own}; while [ ! -e ROOT/${other} ]; do sleep 0.1; done`
      const all = '  - { id: all, composite: { commands: [a, b], parallel: true } }\n'
      const { code } = await run(exec('a', meet('a', 'b')) + exec('b', meet('b', 'a')) + all, '[all]', shell)
      assert.is(code, 0)
    })

    it(`take values as they are: nothing of them is ever code, in ${shell}`, async () => {
      const hostile = `'"; touch ROOT/pwned; $(touch ROOT/pwned) \`touch ROOT/pwned\` \\ $HOME\n\n`
      const env = `, env: [{ name: A, value: ${JSON.stringify(hostile)} }, { name: B, value: x=y }]`
      const line = 'printf %s "$A" > ROOT/a; env | grep ^B='
      const { code, log, root } = await run(exec('a', line, env), '[a]', shell)
      assert.is(code, 0)
      assert.is(readFileSync(join(root, 'a'), 'utf8'), hostile.replaceAll('ROOT', root))
      assert.match(log('1.a'), /^B=x=y\n/)
      assert.throws(() => readFileSync(join(root, 'pwned')))
    })

    it(`begin in their folder, and say when it is not there, in ${shell}`, async () => {
      const folder = (path: string) => `, workingDir: ${JSON.stringify(path)}`
      const odd = "ROOT/a b'$x"
      const made = await run(exec('a', 'pwd', folder(odd)), '[a]', shell, (root) => mkdirSync(join(root, "a b'$x")))
      assert.match(made.log('1.a'), /\/a b'\$x\n/)
      const missing = await run(exec('a', 'pwd', folder('ROOT/nowhere')), '[a]', shell)
      assert.is(missing.code, 125)
    })
  }

  it('have a home that they may write where the image says none, and else the one that it says', async () => {
    const homeIn = async (env: Record<string, string>) =>
      (await run(exec('a', 'cd && pwd'), '[a]', SHELLS.at(-1), undefined, env)).log('1.a').split('\n')[0]
    assert.is(await homeIn({ HOME: '/' }), '/tmp')
    assert.is(await homeIn({ HOME: '/usr' }), '/usr')
    const tools = mkdtempSync(join(tmpdir(), 'tools-'))
    folders.push(tools)
    assert.is(await homeIn({ HOME: '/', BERTH_TOOLS_DIR: tools }), join(tools, 'home'))
  })

  it('end one that does not want to end, in the shell that understands least', async () => {
    const line = 'trap "" TERM; while :; do sleep 0.1; done'
    const { code } = await run(exec('deaf', line, '', "'berth.dev/timeout-seconds': 1"), '[deaf]', SHELLS.at(-1))
    assert.is(code, 124)
  })

  it('are not cut by an odd last line', async () => {
    const { log } = await run(exec('a', 'echo one\necho two # no line break follows'), '[a]')
    assert.is(log('1.a'), 'one\ntwo\nexit code 0\n')
  })
})

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return true
  }
}
