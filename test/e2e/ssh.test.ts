import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { Workspaces } from '../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../src/std/index.ts'
import { berth } from '../cli/berth.ts'
import { lacksOpenSsh, type SshClient } from '../proxy/ssh-client.ts'
import { deployer } from '../support/builders/credentials.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { runAtTerminal } from '../support/terminal.ts'
import { eventually } from '../support/verbs.ts'
import { ourImages } from './pods/images.ts'
import { type SshSite, startSshSite, untilLetIn } from './pods/ssh-site.ts'

const WEB = 'web.team-a@berth'
const GET = 'GET /index.html HTTP/1.0\r\n\r\n'

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

describe(
  'SSH into a pod of a real node',
  (it) => {
    let site: SshSite
    let client: SshClient
    it.before(async () => {
      site = await startSshSite()
      client = site.client
      await site.workspace('web', [await client.makeKey('key')])
      await untilLetIn(site, 'web')
    })
    it.after(() => site?.close())
    const ssh = (...words: string[]) => client.run('ssh', [WEB, ...words])

    it('runs a command in the project, and ends as it does', async () => {
      const { code, stdout, stderr } = await ssh('pwd; echo wrong >&2; exit 7')
      assert.equal([code, stdout, stderr], [7, '/tmp\n', 'wrong\n'])
      assert.is((await ssh('nothing-of-this-name')).code, 127)
    })

    it('takes ten megabytes in, and gives them back', async () => {
      const input = randomBytes(5 * 2 ** 20).toString('hex')
      const { code, stdout } = await client.run('ssh', [WEB, 'cat'], { input })
      assert.equal([code, stdout.length, digestOf(stdout)], [0, input.length, digestOf(input)])
    })

    it('takes all of them also where the command has no output', async () => {
      const input = randomBytes(5 * 2 ** 20).toString('hex')
      for (let time = 0; time < 5; time++) {
        const { code } = await client.run('ssh', [WEB, 'exec cat > taken'], { input })
        const back = await ssh('cat taken; rm taken')
        assert.equal([code, back.code, back.stdout.length, back.stderr], [0, 0, input.length, ''])
        assert.is(digestOf(back.stdout), digestOf(input))
      }
    })

    it('ends with a command that reads only the beginning of them', async () => {
      const { code, stdout } = await client.run('ssh', [WEB, 'head -c 4'], { input: 'text'.repeat(5 * 2 ** 20) })
      assert.equal([code, stdout], [0, 'text'])
    })

    it('gives a reader that is slow all that a command has written', async () => {
      // About so many bytes are on their way when a command has ended, while the kubelet asks three times whether it is there.
      const sizes = [34, 35, 36, 37, 38, 39].map((size) => size * 10 ** 6)
      const ended = sizes.map(async (size) => {
        const child = client.start('ssh', [WEB, `head -c ${size} /dev/zero`])
        const closed = once(child, 'close')
        await pause(systemClock, seconds(16))
        let total = 0
        child.stdout?.on('data', (bytes: Buffer) => {
          total += bytes.length
        })
        const [code] = await closed
        return [code, total]
      })
      assert.equal(
        await Promise.all(ended),
        sizes.map((size) => [0, size]),
      )
    })

    it('keeps apart what a command writes on both outputs, however much', async () => {
      const { stdout, stderr } = await ssh('for each in 1 2 3; do head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; done')
      assert.equal([stdout.length, stderr.length], [9_000_000, 9_000_000])
    })

    it('opens a shell at a terminal, of its kind and size, which follows that of the person', async () => {
      const keys = 'echo "<$TERM:$LC_ALL:$(stty size)>"; exit 5\n'
      const words = [
        'sh',
        '-c',
        'stty rows 33 cols 101; exec "$@"',
        'sh',
        'ssh',
        ...client.options('key'),
        '-o',
        'SendEnv=LC_*',
        WEB,
      ]
      const { code, screen } = await runAtTerminal(words, { env: { TERM: 'xterm', LC_ALL: 'C.UTF-8' }, when: '#', keys })
      assert.match(screen, '<xterm:C.UTF-8:33 101>')
      assert.is(code, 5)
    })

    it('leads to a port on the loopback of the pod, again and again', async () => {
      const page = await client.run('ssh', ['-W', 'localhost:8080', WEB], { input: GET })
      assert.match(page.stdout, /hello\n$/, page.stderr)
      const port = await freePort()
      const forward = client.start('ssh', ['-N', '-L', `127.0.0.1:${port}:127.0.0.1:8080`, WEB])
      const get = async () => (await fetch(`http://127.0.0.1:${port}/index.html`, { headers: { connection: 'close' } })).text()
      await eventually(get)
      assert.equal(new Set(await Promise.all(Array.from({ length: 10 }, get))), new Set(['hello\n']))
      forward.kill()
      await once(forward, 'close')
    })

    it('leads nowhere else, and nothing back', async () => {
      const elsewhere = await client.run('ssh', ['-W', '10.96.0.1:443', WEB])
      assert.is(elsewhere.code, 255)
      assert.match(elsewhere.stderr, 'administratively prohibited: only ports of the workspace itself, on localhost')
      const back = await client.run('ssh', ['-o', 'ExitOnForwardFailure=yes', '-R', '0:localhost:22', WEB, 'true'])
      assert.is(back.code, 255)
      assert.match(back.stderr, 'remote port forwarding failed')
      const socket = await client.run('ssh', ['-o', 'ExitOnForwardFailure=yes', '-R', '/tmp/back:localhost:22', WEB, 'true'])
      assert.is(socket.code, 255)
      assert.match(site.proxy.log(), 'ports that lead back')
    })

    it('lends no agent', async () => {
      const started = await promisify(execFile)('ssh-agent', ['-s'])
      const [, socket = ''] = /SSH_AUTH_SOCK=([^;]+);/.exec(started.stdout) ?? []
      const [, pid = ''] = /SSH_AGENT_PID=(\d+);/.exec(started.stdout) ?? []
      const env = { SSH_AUTH_SOCK: socket }
      await promisify(execFile)('ssh-add', ['-q', join(client.folder, 'key')], { env: { ...process.env, ...env } })
      // The first of two settings counts.
      const first = ['-o', 'IdentityAgent=SSH_AUTH_SOCK']
      const asked = 'echo "<$SSH_AUTH_SOCK>"; ls -d /tmp/ssh-* /tmp/auth-agent* 2>/dev/null | wc -l'
      const { code, stdout } = await client.run('ssh', ['-A', WEB, asked], { env, first })
      process.kill(Number(pid))
      assert.equal([code, stdout], [0, '<>\n0\n'])
      assert.match(site.proxy.log(), 'forwarding of an agent')
    })

    it('ends a connection to a port where nothing listens', async () => {
      const { stdout } = await client.run('ssh', ['-W', 'localhost:9', WEB], { input: GET })
      assert.is(stdout, '')
    })

    it('copies files both ways by scp, in an image that has neither that nor an sftp-server', async () => {
      const [from, back] = [join(client.folder, 'plain'), join(client.folder, 'plain-back')]
      await writeFile(from, randomBytes(5 * 2 ** 20), { mode: 0o750 })
      const copy = async (...words: string[]) => {
        const { code, stderr } = await client.run('scp', ['-q', ...words])
        assert.equal([code, stderr], [0, ''])
      }
      // Over a longer one, which it replaces whole.
      await ssh('head -c 6000000 /dev/zero > there')
      await copy('-p', from, `${WEB}:there`)
      const { stdout } = await ssh('stat -c "%a %s %Y" there')
      const { mtimeMs } = await stat(from)
      assert.is(stdout, `750 ${5 * 2 ** 20} ${Math.floor(mtimeMs / 1000)}\n`)
      await copy(`${WEB}:there`, back)
      assert.ok((await readFile(from)).equals(await readFile(back)))
      await copy(from, `${WEB}:/tmp/made`)
      assert.is((await ssh('stat -c %a /tmp/made')).stdout, '750\n')
      // A whole folder, with names that are hard to say.
      const folder = join(client.folder, 'tree')
      await mkdir(join(folder, 'a b', "it's -n"), { recursive: true })
      for (const name of ['-rf', '$(id)', 'two\nlines', '.hidden', 'übung']) await writeFile(join(folder, 'a b', name), name)
      await copy('-r', folder, `${WEB}:`)
      await copy('-r', `${WEB}:tree`, join(client.folder, 'tree-back'))
      const names = async (root: string) => (await readdir(root, { recursive: true })).toSorted()
      assert.equal(await names(join(client.folder, 'tree-back')), await names(folder))
      assert.is(await readFile(join(client.folder, 'tree-back', 'a b', 'two\nlines'), 'utf8'), 'two\nlines')
    })

    it('tells what scp cannot do, and goes on', async () => {
      const back = join(client.folder, 'none')
      const copy = async (...words: string[]) => client.run('scp', ['-q', ...words])
      assert.match((await copy(`${WEB}:not-there`, back)).stderr, 'No such file')
      assert.match(
        (await copy(join(client.folder, 'plain'), `${WEB}:/proc/none`)).stderr,
        /No such file|Permission denied|Failure/,
      )
      assert.match((await copy(join(client.folder, 'plain'), `${WEB}:/dev/full`)).stderr, /No space left|Failure/)
      assert.match((await copy(`${WEB}:/tmp`, back)).stderr, /not a regular file|Is a directory/)
    })

    it('speaks SFTP', async () => {
      const of = (...lines: string[]) => client.run('sftp', ['-b', '-', WEB], { input: `${lines.join('\n')}\n` })
      await writeFile(join(client.folder, 'half'), 'half and ')
      const { code, stdout, stderr } = await of(
        'pwd',
        'mkdir made-by-sftp',
        `put ${client.folder}/half made-by-sftp/one`,
        'chmod 600 made-by-sftp/one',
        'rename made-by-sftp/one made-by-sftp/two',
        'symlink two made-by-sftp/link',
        'ls -l made-by-sftp',
        'rm made-by-sftp/link',
        `get made-by-sftp/two ${client.folder}/again`,
        'rm made-by-sftp/two',
        'rmdir made-by-sftp',
      )
      assert.is(code, 0, stderr)
      assert.match(stdout, 'Remote working directory: /tmp')
      assert.match(stdout, /^-rw------- .* 9 .*two$/m)
      assert.is(await readFile(join(client.folder, 'again'), 'utf8'), 'half and ')
      assert.is((await ssh('ls -d made-by-sftp 2>/dev/null')).stdout, '')
      // Where it broke off, it goes on.
      await ssh('printf "half " > rest')
      assert.is((await of(`reput ${client.folder}/half rest`)).code, 0)
      assert.is((await ssh('cat rest; rm rest')).stdout, 'half and ')
      await writeFile(join(client.folder, 'got'), 'half')
      await ssh('printf "half and half" > rest')
      assert.is((await of(`reget rest ${client.folder}/got`)).code, 0)
      assert.is(await readFile(join(client.folder, 'got'), 'utf8'), 'half and half')
      assert.match((await of('rm not-there')).stderr, 'No such file')
    })

    it('copies files both ways by scp, where the image has it', async () => {
      const { digests, folder } = await ourImages()
      await site.cluster.importImages(join(folder, 'images.tar'))
      const image = [...digests.keys()].find((each) => each.includes('berth-workspace'))
      await site.workspace('copied', [await client.makeKey('copied')], { ...(image && { image }) })
      await untilLetIn(site, 'copied', 'copied')
      const [from, back] = [join(client.folder, 'from'), join(client.folder, 'back')]
      await writeFile(from, randomBytes(20 * 2 ** 20))
      const there = 'copied.team-a@berth:there'
      for (const [one, other] of [
        [from, there],
        [there, back],
      ] as const) {
        const { code, stderr } = await client.run('scp', ['-O', '-q', one, other], { key: 'copied' })
        assert.is(code, 0, stderr)
      }
      assert.ok((await readFile(from)).equals(await readFile(back)))
    })

    it('is not taken for a host with another key', async () => {
      const other = (await client.makeKey('other-host')).split(' ').slice(0, 2).join(' ')
      await client.know(other)
      const { code, stderr } = await ssh('true')
      await client.know(site.hostKey)
      assert.is(code, 255)
      assert.match(stderr, 'Host key verification failed')
    })

    it('takes twenty sessions of one connection, and twenty connections', async () => {
      const control = ['-o', `ControlPath=${join(client.folder, 'control')}`]
      const master = client.start('ssh', [...control, '-M', '-N', WEB])
      await eventually(async () => (await client.run('ssh', [...control, '-O', 'check', WEB])).code === 0)
      const say = async (words: string[], each: number) =>
        (await client.run('ssh', [...words, WEB, `sleep 1; echo ${each}; exit ${each}`])).stdout
      const numbers = Array.from({ length: 20 }, (_, each) => each)
      const all = numbers.map((each) => `${each}\n`)
      assert.equal(await Promise.all(numbers.map((each) => say(control, each))), all)
      master.kill()
      await once(master, 'close')
      assert.equal(await Promise.all(numbers.map((each) => say([], each))), all)
    })

    it('ends what is open when its key is taken away, and lets it in no more', async () => {
      await site.workspace('brief', [await client.makeKey('first'), await client.makeKey('second')])
      await untilLetIn(site, 'brief', 'second')
      const open = client.start('ssh', ['brief.team-a@berth', 'echo in; cat'], { key: 'second' })
      const { stdout } = open
      if (!stdout) throw new TypeError('no output')
      await once(stdout, 'data')
      const kept = (await client.makeKey('third')).replace(/ a test$/, '')
      const began = Date.now()
      const closed = once(open, 'close')
      await site.cluster.kube.patch(Workspaces, { name: 'brief', namespace: 'team-a' }, { spec: { sshKeys: [kept] } })
      assert.is((await closed)[0], 255)
      assert.ok(Date.now() - began < seconds(10))
      const again = await client.run('ssh', ['brief.team-a@berth', 'true'], { key: 'second' })
      assert.match(again.stderr, 'Permission denied (publickey)')
      assert.is((await client.run('ssh', ['brief.team-a@berth', 'true'], { key: 'third' })).code, 0)
    })

    it('lets in by a certificate, which anybody with a token of the cluster gets', async () => {
      const { kube } = site.cluster
      const grace = await deployer(kube, 'team-a', { name: 'grace' })
      const user = 'system:serviceaccount:team-a:grace'
      await writeFile(join(client.folder, 'kubeconfig'), grace.kubeconfig)
      await site.workspace('lent', [])
      const lent = { name: 'lent', namespace: 'team-a' }
      const ports = [{ name: 'editor-server', port: 3000, url: 'https://3000-lent.ws.example.com/' }]
      await kube.patch(Workspaces, lent, { status: { ports } }, { subresource: 'status' })
      const place = ['--kubeconfig', join(client.folder, 'kubeconfig')]
      const given = await berth(['ssh-cert', ...place, '--key', join(client.folder, 'key.pub')], { env: { HOME: client.folder } })
      assert.is(given.code, 0, given.stderr)
      const login = () => client.run('ssh', ['lent.team-a@berth', 'pwd'])
      assert.match((await login()).stderr, 'Permission denied')
      const shares = [{ name: 'pair', user, ports: ['editor-server'] }]
      await kube.patch(Workspaces, lent, { spec: { shares } })
      await eventually(async () => (await login()).stdout === '/tmp\n')
      const open = client.start('ssh', ['lent.team-a@berth', 'echo here; cat'])
      const closed = once(open, 'close')
      assert.ok(open.stdout)
      assert.is(String((await once(open.stdout, 'data'))[0]), 'here\n')
      await kube.patch(Workspaces, lent, { spec: { shares: [] } })
      assert.is((await closed)[0], 255)
      await rm(join(client.folder, 'key-cert.pub'))
    })

    it('says in a sentence that the owner may run nothing where it runs', async () => {
      await site.workspace('apart', [await client.makeKey('apart')], { isPrivate: false })
      const { stderr } = await eventually(async () => {
        const ended = await client.run('ssh', ['apart.team-a@berth', 'true'], { key: 'apart' })
        return !ended.stderr.includes('Permission denied') && ended
      })
      assert.match(stderr, 'ada@example.com, whose apart in team-a is, may run nothing where it runs')
    })
  },
  (await lacksNode()) ?? lacksOpenSsh(),
)
