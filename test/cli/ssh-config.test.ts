import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, match, not, ok } from 'uvu/assert'
import { createKeyPair, signCertificate } from '../../src/adapters/ssh/index.ts'
import { type Workspace, type WorkspaceSpec, Workspaces } from '../../src/api/index.ts'
import { blockOf, entryOf } from '../../src/cli/ssh/entry.ts'
import { withInclude, withoutInclude } from '../../src/cli/ssh/text.ts'
import { hours } from '../../src/std/index.ts'
import { lacksOpenSsh } from '../proxy/ssh-client.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

const { line } = createKeyPair()
const SSH = { user: 'web.team-a', host: 'ssh.example.com', port: 2222, hostKeys: [line] }

const workspaceWith = (ssh: object | undefined, metadata: object = {}): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'web', namespace: 'team-a', ...metadata },
  spec: {},
  status: { ssh } as NonNullable<Workspace['status']>, // as: what strangers write has any shape
})

describe('what OpenSSH is told of a workspace', (it) => {
  it('is its alias, its user, the host and the keys', () => {
    equal(entryOf(workspaceWith(SSH)), { alias: 'web.team-a.berth', namespace: 'team-a', ...SSH })
  })

  it('is nothing where somebody has written anything else into its status', () => {
    const [, blob = ''] = line.split(' ')
    const wrong: object[] = [
      { user: 'root' },
      { user: 'web.team-a\n  ProxyCommand id' },
      { user: '-oProxyCommand=id' },
      ...[
        '-oProxyCommand=id',
        'a b',
        'a\nProxyCommand id',
        'a\rb',
        '%h',
        '"a"',
        "a'b",
        '$(id)',
        '`id`',
        '${HOME}',
        'a;id',
        '*',
        '',
        'A',
        7,
        null,
      ].map((host) => ({ host })),
      ...[0, -1, 65_536, 22.5, '22', '22\nProxyCommand id', null].map((port) => ({ port })),
      ...[
        [],
        'ssh-ed25519',
        [`${line}\nother.team-b.berth ${line}`],
        [`@cert-authority * ${line}`],
        [`ssh-rsa ${blob}`],
        [`${line} a comment`],
        [`ssh-ed25519 ${'A'.repeat(68)}`],
        [7],
        Array.from({ length: 9 }, () => line),
        null,
      ].map((hostKeys) => ({ hostKeys })),
    ]
    for (const each of wrong) is(typeof entryOf(workspaceWith({ ...SSH, ...each })), 'string', JSON.stringify(each))
    for (const name of ['-web', 'web*', 'web !x', 'web\nHost *', 'web.a', '', 'w%h', 'W'])
      match(String(entryOf(workspaceWith({ ...SSH, user: `${name}.team-a` }, { name }))), 'OpenSSH could misread')
    for (const namespace of ['*', 'a b', undefined])
      match(String(entryOf(workspaceWith(SSH, { namespace }))), 'OpenSSH could misread')
    match(String(entryOf(workspaceWith(undefined))), 'is not reached over SSH')
  })

  it('is included before anything that could narrow it, once, and leaves the rest as it is', () => {
    const include = 'Include /home/ada/.ssh/berth/config'
    const own = [
      '',
      'Host a\r\n  User b',
      '# no end',
      'Host *\n\tUser "x y"\n\n\n',
      '  Match all\nInclude /home/ada/.ssh/berth/config\n',
    ]
    for (const text of own) {
      const once = withInclude(text, include)
      is(once, `${include}\n${text}`)
      is(withInclude(once, include), once)
      if (!text.includes(include)) is(withoutInclude(once, include), text)
    }
    const later = `# mine\n\n ${include} \nHost a\n`
    is(withInclude(later, include), later)
    is(withoutInclude(later, include), '# mine\n\nHost a\n')
  })
})

describe(
  'berth ssh-config',
  (it) => {
    const cluster = testCluster()
    const { kube, kubeconfig } = cluster
    let home = ''
    let namespace = ''
    let elsewhere = ''
    it.before(async () => {
      home = await mkdtemp(join(tmpdir(), 'berth home-'))
      namespace = await cluster.namespace('ssh-config')
      elsewhere = await cluster.namespace('ssh-config-other')
      await reached('web', namespace, { sshKeys: [line] })
      await reached('rests', namespace, { desiredState: 'Stopped' })
      await reached('web', elsewhere, { sshKeys: [line] })
    })
    it.beforeEach(() => mkdir(join(home, '.ssh')).then(() => undefined))
    it.afterEach(() => rm(join(home, '.ssh'), { recursive: true }))
    it.after(async () => {
      await rm(home, { recursive: true })
      await cluster.close()
    })
    async function reached(name: string, where: string, spec: WorkspaceSpec): Promise<void> {
      const metadata = { name, namespace: where }
      await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata, spec })
      const ssh = { ...SSH, user: `${name}.${where}` }
      await kube.patch(Workspaces, metadata, { status: { ssh } }, { subresource: 'status' })
    }
    const run = (...given: string[]) =>
      berth(['ssh-config', '--kubeconfig', kubeconfig, '-n', namespace, ...given], { env: { HOME: home } })
    const at = (...path: string[]) => join(home, '.ssh', ...path)
    const own = () => readFile(at('config'), 'utf8')
    /** As OpenSSH itself reads it. */
    const read = async (alias: string) => {
      const { stdout } = await promisify(execFile)('ssh', ['-G', '-F', at('config'), alias])
      return (word: string) => new RegExp(`^${word} (.*)$`, 'm').exec(stdout)?.[1]
    }

    it('prints what it would write, with what keeps somebody out, and writes nothing', async () => {
      const { code, stdout, stderr } = await run()
      is(code, 0)
      match(stdout, `Host web.${namespace}.berth\n  HostName ssh.example.com\n  Port 2222\n  User web.${namespace}\n`)
      match(stdout, `# web.${namespace}.berth ${line}`)
      not.match(stdout, elsewhere)
      const told = stderr.replaceAll(/\s+/g, ' ')
      match(told, /so that no key without a certificate lets in: \S* ?\S*rests/)
      match(told, 'Stopped, and started with `berth start`: ')
      match(stderr, 'Nothing is written')
      equal(await readdir(at()), [])
    })

    it('has OpenSSH know the workspaces, beside those of other namespaces and all that a person has', async () => {
      const mine = 'Host *\n  User somebody\n  ForwardAgent yes\n# the end'
      await writeFile(at('config'), mine, { mode: 0o640 })
      is((await run('--write')).code, 0)
      const once = await own()
      is(once.split('\n').slice(1).join('\n'), mine)
      is((await stat(at('config'))).mode & 0o777, 0o640)
      for (const file of ['config', 'known_hosts']) is((await stat(at('berth', file))).mode & 0o777, 0o600)
      is((await stat(at('berth'))).mode & 0o777, 0o700)
      is((await berth(['ssh-config', '--kubeconfig', kubeconfig, '-n', elsewhere, '--write'], { env: { HOME: home } })).code, 0)
      is((await run('--write')).code, 0)
      is(await own(), once)
      for (const where of [namespace, elsewhere]) {
        const said = await read(`web.${where}.berth`)
        equal(['hostname', 'port', 'user', 'hostkeyalias', 'stricthostkeychecking', 'forwardagent', 'proxycommand'].map(said), [
          'ssh.example.com',
          '2222',
          `web.${where}`,
          `web.${where}.berth`,
          'true',
          'no',
          undefined,
        ])
        match(said('userknownhostsfile') ?? '', join(home, '.ssh', 'berth', 'known_hosts'))
      }
      is((await read('other.example.com'))('user'), 'somebody')
      const pins = await readFile(at('berth', 'known_hosts'), 'utf8')
      equal(
        pins.trim().split('\n').toSorted(),
        [`rests.${namespace}`, `web.${namespace}`, `web.${elsewhere}`].map((each) => `${each}.berth ${line}`).toSorted(),
      )
      is((await run('--remove')).code, 0)
      is(await own(), mine)
      equal(await readdir(at()), ['config'])
    })

    it('forgets workspaces that are gone', async () => {
      await reached('gone', namespace, {})
      await run('--write')
      ok((await readFile(at('berth', 'config'), 'utf8')).includes('Host gone.'))
      await kube.delete(Workspaces, { name: 'gone', namespace })
      await run('--write')
      for (const file of ['config', 'known_hosts']) not.match(await readFile(at('berth', file), 'utf8'), 'gone')
    })

    it('names an identity, and no other is shown then', async () => {
      await run('--write', '--identity', join(home, '.ssh', 'my key'))
      const said = await read(`web.${namespace}.berth`)
      equal(
        [said('identityfile'), said('identitiesonly'), said('certificatefile')],
        [join(home, '.ssh', 'my key'), 'yes', undefined],
      )
      const { code, stderr } = await run('--identity', '/tmp/a"\nProxyCommand id')
      is(code, 7)
      match(stderr, '--identity: OpenSSH would read the path')
    })

    it('names the certificate beside a key as long as it counts', async () => {
      const certificateUntil = async (until: number) => {
        const key = { type: 'ssh-ed25519', blob: line.split(' ')[1] ?? '' }
        const said = { key, keyId: 'ada', principals: ['ada'], since: until - hours(1), until, extensions: new Map() }
        await writeFile(at('mine-cert.pub'), `ssh-ed25519-cert-v01@openssh.com ${signCertificate(createKeyPair(), said).text}\n`)
      }
      await certificateUntil(Date.now() + hours(1))
      const { stderr } = await run('--write', '--identity', at('mine'))
      not.match(stderr, 'which is over')
      is((await read(`web.${namespace}.berth`))('certificatefile'), at('mine-cert.pub'))
      for (const [file, ...words] of [['mine', '--identity', at('mine')], ['berth/id_ed25519']]) {
        await certificateUntil(Date.now() - 1000)
        await rename(at('mine-cert.pub'), at(`${file}-cert.pub`))
        const ended = await run('--write', ...words)
        match(ended.stderr.replaceAll(/\s+/g, ' '), `${file}-cert.pub, which is over. Get another with`)
        is((await read(`web.${namespace}.berth`))('certificatefile'), undefined)
      }
    })

    it('leaves links alone, and what is not written in UTF-8', async () => {
      await writeFile(join(home, 'kept'), 'Host a\n')
      await symlink(join(home, 'kept'), at('config'))
      const linked = await run('--write')
      is(linked.code, 1)
      equal(await readdir(at()), ['config'])
      match(linked.stderr.replaceAll(/\s+/g, ' '), 'is a symbolic link, which is left alone. Print the configuration with')
      is(await readFile(join(home, 'kept'), 'utf8'), 'Host a\n')
      await rm(at('config'))
      await rm(at('berth'), { recursive: true, force: true })
      await symlink(home, at('berth'))
      match((await run('--write')).stderr, 'is a symbolic link')
      is((await run('--remove')).code, 0)
      ok((await readdir(home)).includes('kept'))
      await rm(at('berth'))
      const strange = Buffer.from([0x23, 0xff, 0x0a])
      await writeFile(at('config'), strange)
      match((await run('--write')).stderr, 'not written in UTF-8')
      ok((await readFile(at('config'))).equals(strange))
    })

    it('says what there is to do where nothing is reached', async () => {
      const bare = await cluster.namespace('ssh-config-bare')
      const there = () => berth(['ssh-config', '--kubeconfig', kubeconfig, '-n', bare], { env: { HOME: home } })
      const none = await there()
      is(none.code, 3)
      match(none.stderr, 'there is no Workspace in namespace')
      await kube.create(Workspaces, {
        apiVersion: 'berth.dev/v1alpha1',
        kind: 'Workspace',
        metadata: { name: 'web', namespace: bare },
        spec: {},
      })
      match((await there()).stderr.replaceAll(/\s+/g, ' '), 'is reached over SSH. The proxy takes SSH with proxy.ssh')
    })

    it('leaves nothing half written where it may not write', async () => {
      if (process.getuid?.() === 0) return
      await chmod(at(), 0o500)
      const { code, stderr } = await run('--write')
      await chmod(at(), 0o700)
      ok(code !== 0)
      match(stderr, 'cannot be')
      equal(await readdir(at()), [])
    })
  },
  lacksOpenSsh(),
)

describe('the block of a workspace', (it) => {
  it('has a word of a place in it only where that was made fit', () => {
    const entry = entryOf(workspaceWith(SSH))
    ok(typeof entry !== 'string')
    const block = blockOf(entry, {
      knownHosts: '/home/ada/.ssh/berth/known_hosts',
      certificates: ['"/home/ada/my key-cert.pub"'],
      identities: ['"/home/ada/my key"'],
      isAll: true,
    })
    match(block, '  CertificateFile "/home/ada/my key-cert.pub"\n  IdentityFile "/home/ada/my key"\n  IdentitiesOnly yes\n')
    is(block.split('\n').filter((each) => /proxycommand|localcommand|include/i.test(each)).length, 0)
  })
})
