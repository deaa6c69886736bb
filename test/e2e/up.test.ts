import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import { packImage } from '../../src/adapters/control-plane/node/images.ts'
import { minutes } from '../../src/std/index.ts'
import { exportedIn, ROOT, startBerth, tooWide } from '../cli/berth.ts'
import { processesIn } from '../cli/leftovers.ts'
import { portOf } from '../support/addresses.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

const SHOP = join(ROOT, 'examples', 'tour', 'shop')

describe(
  'berth on a real node',
  (it) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-up-node-')))
    const dir = join(root, 'one')
    it.after(async () => {
      await startBerth(['down', '--dir', dir]).ended
      rmSync(root, { recursive: true, force: true })
    })
    const berth = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await startBerth(words).ended
      assert.is(code, 0, `${stdout}\n${stderr}`)
      assert.equal(tooWide(stdout), [])
      return stdout
    }
    const kubectl = async (...words: string[]) => {
      const { paths } = await acquireTools({ env: process.env })
      const flags = ['--kubeconfig', join(dir, 'kubeconfig'), ...words]
      return (await promisify(execFile)(paths.kubectl ?? '', flags)).stdout
    }
    const inPod = (script: string) => kubectl('exec', 'client', '--', 'sh', '-c', script)
    const urlsIn = (stdout: string) => ({
      ...exportedIn(stdout),
      webhooks: /webhooks: POST (\S+)/.exec(stdout)?.[1],
      forPeople: /git: (\S+)\/<name>/.exec(stdout)?.[1] ?? '',
      forPods: /(\S+)\/<name>\.git in GitProjects/.exec(stdout)?.[1] ?? '',
    })

    it('shows the tour with pods that answer, and leaves nothing behind', async () => {
      const folder = join(root, 'tour')
      const stdout = await berth('tour', '--exit', '--node', '--dir', folder)
      for (const text of [
        'with a real node',
        'the shop answers: "Hello from the first commit"',
        'workspace is Running',
        'the branch answers: "Hello from feature/cart"',
      ])
        assert.match(stdout, text)
      await eventually(() => processesIn(folder).length === 0)
    })

    it('lets pods read from its Git server and people push, and leads pods out, but not to loopback of this machine', async () => {
      const stdout = await berth('up', '--node', '--detach', '--dir', dir)
      const { forPeople, forPods } = urlsIn(stdout)
      assert.match(exportedIn(stdout).BERTH_KAS_ADDRESS ?? '', 'grpcs://127.0.0.1:')
      const client = ['--image=busybox:1', '--', 'sleep', '10000']
      await kubectl('run', 'client', ...client)
      await kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=120s')
      const shop = join(root, 'shop')
      cpSync(SHOP, shop, { recursive: true })
      const git = (...words: string[]) => promisify(execFile)('git', words, { cwd: shop })
      await git('init', '--bare', '--quiet', '--initial-branch=main', join(dir, 'repositories', 'shop.git'))
      await git('init', '--quiet', '--initial-branch=main')
      await git('add', '--all')
      await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'first')
      await git('push', '--quiet', `${forPeople}/shop.git`, 'main')
      assert.match(await inPod(`wget -qO- '${forPods}/shop.git/info/refs?service=git-upload-pack'`), 'refs/heads/main')

      const refused = `wget -qO- '${forPods}/shop.git/info/refs?service=git-receive-pack' 2>&1 || true`
      assert.match(await inPod(refused), '403 Forbidden')

      const machine = createServer((socket) => socket.end('this machine')).listen(0, '0.0.0.0')
      await once(machine, 'listening')
      const askFor = (address: string) => inPod(`nc -w 5 ${address} ${portOf(machine)} < /dev/null || echo none`)
      try {
        const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
        const { address = '' } = own.find(({ internal, family }) => !internal && family === 'IPv4') ?? {}
        assert.is(await askFor(address), 'this machine')
        assert.is(await askFor('10.0.2.2'), 'none\n')
      } finally {
        machine.close()
      }
      const parts: { name: string; pid: number }[] = JSON.parse(readFileSync(join(dir, 'parts.json'), 'utf8'))
      const namesOf = ({ pid }: { pid: number }) => readFileSync(`/proc/${pid}/root/etc/resolv.conf`, 'utf8')
      for (const part of parts) assert.is(namesOf(part), 'nameserver 10.0.2.3\n', part.name)
    })

    it('gives the node images of a file, also when it is up already, and says what is no such file', async () => {
      const files = join(root, 'files')
      mkdirSync(files)
      writeFileSync(join(files, 'hello'), 'hello')
      await packImage({ name: 'loaded', root: files, config: {}, env: { PATH: process.env.PATH } }, root)
      await berth('up', '--dir', dir, '--detach', '--load', join(root, 'loaded.tar'))
      // The kubelet tells of its images with its next status.
      await eventually(async () => (await kubectl('get', 'nodes', '--output', 'json')).includes('localhost/loaded:1'), {
        within: minutes(6),
      })
      for (const [file, code, said] of [
        [join(root, 'nothing.tar'), 3, `--load: there is no file ${join(root, 'nothing.tar')}`],
        [join(files, 'hello'), 7, 'It takes an OCI archive, or what `docker save` writes.'],
      ] as const) {
        const ended = await startBerth(['up', '--dir', dir, '--load', file]).ended
        assert.is(ended.code, code, ended.stderr)
        assert.match(ended.stderr, said)
      }
    })

    it('has its addresses and what it had when it was down and is up again', async () => {
      const before = urlsIn(await berth('up', '--node', '--detach', '--dir', dir))
      const { pids }: { pids: Record<string, number> } = JSON.parse(readFileSync(join(dir, 'control-plane.json'), 'utf8'))
      process.kill(pids.slirp4netns ?? 0, 'SIGKILL')
      await eventually(async () => (await startBerth(['status', '--dir', dir]).ended).code !== 0)
      assert.equal(
        urlsIn(await berth('up', '--detach', '--dir', dir)),
        before,
        'what is left is ended before it is started again',
      )
      await berth('down', '--dir', dir)
      await eventually(() => processesIn(dir).length === 0)
      assert.equal(urlsIn(await berth('up', '--detach', '--dir', dir)), before, 'the folder has a real node')
      // Until the kubelet has looked, the pod is shown as it was.
      const refs = () => inPod(`wget -qO- '${before.forPods}/shop.git/info/refs?service=git-upload-pack'`)
      assert.match(await eventually(refs), 'refs/heads/main')
    })
  },
  await lacksNode(),
)
