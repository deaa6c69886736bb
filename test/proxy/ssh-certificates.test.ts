import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, match, ok } from 'uvu/assert'
import { parse as parseYaml } from 'yaml'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { askOverSsh, createKeyPair, type KeyPair, keyPairFrom, signCertificate } from '../../src/adapters/ssh/index.ts'
import { ConfigMaps, certificateCommand, Secrets, type WorkspaceSpec, Workspaces } from '../../src/api/index.ts'
import { gatewayIn, sshOf } from '../../src/operator/workspace/status/ssh.ts'
import { hours, minutes, Secret, seconds } from '../../src/std/index.ts'
import { berth } from '../cli/berth.ts'
import { accountToken, allow, signIn } from '../support/builders/credentials.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { lacksOpenSsh, type SshClient, sshClient } from './ssh-client.ts'
import { trustHost } from './ssh-host.ts'
import { type Stage, setStage } from './stage.ts'

const EDITOR = { ports: [{ name: 'editor-server', port: 3000 }] }
const DENIED = 'Permission denied (publickey)'
const IN = 'has no target yet'
const SOON = { within: seconds(10) }
const AUTHORITY = 'berth-proxy-ssh-authority'
const TYPE = 'ssh-ed25519-cert-v01@openssh.com'

describe(
  'certificates for SSH',
  (it) => {
    let stage: Stage
    let client: SshClient
    let home = ''
    let user = ''
    let token = ''
    let hostKey = ''
    it.before(async () => {
      const address = `127.0.0.1:${await freePort()}`
      const flags = { sshListen: address, sshAddress: address, sshCertificatesFor: '10', accessReviews: true }
      stage = await setStage((_request, response) => void response.end('a page'), flags)
      const { namespace, cluster } = stage
      client = await sshClient(address)
      hostKey = await trustHost(client, cluster.kube, namespace)
      home = await mkdtemp(join(tmpdir(), 'berth-home-'))
      user = `system:serviceaccount:${namespace}:grace`
      token = await accountToken(cluster.kube, namespace, 'grace')
      const { kubeconfig } = await signIn(cluster.kube, { namespace, name: 'grace' })
      await writeFile(join(home, 'kubeconfig'), kubeconfig)
      const right = { group: '', resource: 'configmaps', name: 'berth-proxy-ssh' }
      await allow(cluster.kube, namespace, user, { ...right, verbs: ['get'] })
      await client.makeKey('key')
      await share('shared')
    })
    it.after(async () => {
      await client?.close()
      await stage.close()
      await rm(home, { recursive: true })
    })
    const share = (name: string, who: { user: string } | { group: string } = { user }) => {
      const shares: NonNullable<WorkspaceSpec['shares']> = [{ name: 'pair', ...who, ports: ['editor-server'] }]
      return stage.workspace(name, { spec: { shares }, ...EDITOR })
    }
    const login = (name: string, key = 'key', ...more: string[]) =>
      client.run('ssh', [...more, `${name}.${stage.namespace}@berth`, 'true'], { key })
    /** A connection that stays, and whether it is still there. */
    const hold = (name: string, key = 'key') => {
      const held = { isOpen: true }
      client.start('ssh', ['-N', `${name}.${stage.namespace}@berth`], { key }).once('close', () => {
        held.isOpen = false
      })
      return held
    }
    const untilIn = (name: string) => eventually(() => new RegExp(`/${name}".*"means":"certificate `).test(stage.proxy.log()))
    const cert = (...words: string[]) =>
      berth(['ssh-cert', '--kubeconfig', join(home, 'kubeconfig'), '--berth-namespace', stage.namespace, ...words], {
        env: { HOME: home },
      })
    const publicKey = async (key = 'key') => (await readFile(join(client.folder, `${key}.pub`), 'utf8')).split(' ')
    const authority = async (): Promise<KeyPair> => {
      const secret = await stage.cluster.kube.get(Secrets, { name: AUTHORITY, namespace: stage.namespace })
      return keyPairFrom(new Secret(Buffer.from(secret?.data?.ssh_user_ca_ed25519_key ?? '', 'base64').toString()))
    }
    type Said = Partial<Parameters<typeof signCertificate>[1]>
    /** What nobody who is honest would sign, for the key of that name. */
    const forge = async (said: Said, { by, key = 'key' }: { by?: KeyPair; key?: string } = {}) => {
      const [type = '', blob = ''] = await publicKey(key)
      const times = { since: Date.now() - 1000, until: Date.now() + hours(1) }
      const extensions = new Map([['groups@berth.dev', '[]']])
      const whole = { key: { type, blob }, keyId: user, principals: [user], ...times, extensions, ...said }
      const { text } = signCertificate(by ?? (await authority()), whole)
      await writeFile(join(client.folder, `${key}-cert.pub`), `${TYPE} ${text}\n`)
    }
    const forget = (key = 'key') => rm(join(client.folder, `${key}-cert.pub`), { force: true })
    const lastRefusal = () =>
      stage.proxy
        .log()
        .match(/.*A certificate was not taken.*/g)
        ?.at(-1) ?? ''

    it('are given for a token, and let in whom a share lets in', async () => {
      match((await login('shared')).stderr, DENIED)
      const { code, stdout, stderr } = await cert('--key', join(client.folder, 'key.pub'))
      is(code, 0, stderr)
      // No longer than the token of the account itself.
      match(stderr, `${user}, for `)
      const left = Date.parse(/, until (\S+Z)/.exec(stderr)?.[1] ?? '') - Date.now()
      ok(left > minutes(50) && left <= hours(1), stderr)
      match(
        stdout,
        `ssh -i ${client.folder}/key -o CertificateFile=${client.folder}/key-cert.pub -p ${stage.proxy.addresses.ssh?.split(':')[1]} WORKSPACE.NAMESPACE@127.0.0.1`,
      )
      const shown = (await promisify(execFile)('ssh-keygen', ['-L', '-f', join(client.folder, 'key-cert.pub')])).stdout
      match(shown, `Key ID: "${user}"`)
      match(shown, 'groups@berth.dev')
      match((await login('shared')).stderr, IN)
      match(stderr.replaceAll(/\s+/g, ' '), `--write --identity ${client.folder}/key\``)
      // Logs tell which one it was.
      const [, serial = ''] = /Serial: (\d+)/.exec(shown) ?? []
      match(stage.proxy.log(), `"means":"certificate ${serial}"`)
      match(stage.proxy.log(), new RegExp(`"serial":"${serial}".*A certificate for SSH was issued`))
      // It is a name, and no way in: who has no share stays outside.
      await stage.workspace('others', EDITOR)
      for (const name of ['others', 'nothing']) match((await login(name)).stderr, DENIED, name)
      await forget()
      match((await login('shared')).stderr, DENIED)
    })

    it('let in by a share with a group, who is in it when the certificate is given', async () => {
      await share('of-group', { group: `system:serviceaccounts:${stage.namespace}` })
      await share('of-others', { group: 'others' })
      const { code, stderr } = await cert('--key', join(client.folder, 'key.pub'))
      is(code, 0, stderr)
      match((await login('of-group')).stderr, IN)
      match((await login('of-others')).stderr, DENIED)
      const within = (...groups: string[]) => forge({ extensions: new Map([['groups@berth.dev', JSON.stringify(groups)]]) })
      await within('more', 'others')
      match((await login('of-others')).stderr, IN)
      match((await login('of-group')).stderr, DENIED)
      await within()
      match((await login('of-others')).stderr, DENIED)
      await forget()
    })

    it('are kept in a place of their own, which the configuration of OpenSSH names', async () => {
      const { code, stdout, stderr } = await cert('--for', '30m', '-o', 'json')
      is(code, 0, stderr)
      const told = JSON.parse(stdout)
      const left = Date.parse(told.validUntil) - Date.now()
      ok(left > minutes(28) && left <= minutes(30), String(left))
      equal([told.user, told.host, told.key], [user, '127.0.0.1', join(home, '.ssh', 'berth', 'id_ed25519')])
      for (const file of [told.key, told.certificate]) is((await stat(file)).mode & 0o777, 0o600)
      const { cluster, namespace } = stage
      const ref = { name: 'shared', namespace }
      const [map, workspace] = [
        await cluster.kube.get(ConfigMaps, { name: 'berth-proxy-ssh', namespace }),
        await cluster.kube.get(Workspaces, ref),
      ]
      // In the operator's place, which is not here.
      const ssh = workspace && sshOf(workspace, gatewayIn(map), {})
      await cluster.kube.patch(Workspaces, ref, { status: { ssh } }, { subresource: 'status' })
      const written = await berth(['ssh-config', '--kubeconfig', cluster.kubeconfig, '-n', namespace, '--write'], {
        env: { HOME: home },
      })
      is(written.code, 0, written.stderr)
      const words = ['-F', join(home, '.ssh', 'config'), `shared.${namespace}.berth`, 'true']
      const { stderr: said } = await promisify(execFile)('ssh', words, { env: { PATH: process.env.PATH } }).catch(
        (error) => error,
      )
      match(said, IN)
      // The same key gets the next one.
      const key = await readFile(told.key, 'utf8')
      is((await cert()).code, 0)
      is(await readFile(told.key, 'utf8'), key)
    })

    it('are given for the token of an exec plugin, too', async () => {
      const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }
      await writeFile(join(home, 'credential'), JSON.stringify(credential))
      const config = parseYaml(await readFile(join(home, 'kubeconfig'), 'utf8'))
      const exec = {
        apiVersion: credential.apiVersion,
        command: 'cat',
        args: [join(home, 'credential')],
        interactiveMode: 'Never',
      }
      config.users = config.users.map(({ name }: { name: string }) => ({ name, user: { exec } }))
      await writeFile(join(home, 'by-plugin'), JSON.stringify(config))
      const place = ['--kubeconfig', join(home, 'by-plugin'), '--berth-namespace', stage.namespace]
      const { code, stdout, stderr } = await berth(['ssh-cert', ...place, '-o', 'json'], { env: { HOME: home } })
      is(code, 0, stderr)
      is(JSON.parse(stdout).user, user)
    })

    it('are given for no longer than the proxy says, and to nobody without a token', async () => {
      const long = await cert('--for', '11h')
      equal([long.code, long.stdout], [7, ''])
      match(long.stderr, 'certificates count for 10 h at most at 127.0.0.1. Write --for 10h, or less.')
      const [host = '', port] = (stage.proxy.addresses.ssh ?? '').split(':')
      const [, key = ''] = await publicKey()
      const place = { host, port: Number(port), hostKey, user: 'berth', signal: new AbortController().signal }
      const ask = (command: string, password = token) => askOverSsh({ ...place, command, password: new Secret(password) })
      const { code, stdout, stderr } = await ask(certificateCommand({ seconds: 36_001, key }))
      equal([code, stdout], [255, ''])
      match(stderr, 'certificates count from 60 to 36000 seconds here, and not 36001')
      match((await ask(certificateCommand({ seconds: 59, key }))).stderr, 'and not 59')
      for (const command of ['sh', 'certificate 60 ssh-rsa AAAA', `${certificateCommand({ seconds: 60, key })}; sh`, ''])
        match((await ask(command)).stderr, 'certificates are given here, and nothing else', command)
      is((await failureOf(() => ask('sh', 'no token'))).code, 'unauthorized')
      // A key is not a point of the curve's length.
      const strange = Buffer.concat([Buffer.from('\0\0\0\u000bssh-ed25519\0\0\0!', 'latin1'), randomBytes(32)]).toString('base64')
      match((await ask(certificateCommand({ seconds: 60, key: strange }))).stderr, 'it ends too early')
    })

    it('are asked of no host but the one whose key the cluster tells', async () => {
      const [host = '', port] = (stage.proxy.addresses.ssh ?? '').split(':')
      const place = { host, port: Number(port), user: 'berth', signal: new AbortController().signal }
      const other = { ...place, hostKey: createKeyPair().line, command: 'x', password: new Secret(token) }
      const { code, message } = await failureOf(() => askOverSsh(other))
      equal([code, message], ['forbidden', `127.0.0.1:${port} shows another host key than the cluster tells of it`])
    })

    it('let nobody in by a token itself, where that is not allowed', async () => {
      match((await client.byPassword(`shared.${stage.namespace}`, token)).stderr, DENIED)
    })

    it('lead to no other certificate', async () => {
      await forge({})
      match((await login('shared')).stderr, IN)
      const [, key = ''] = await publicKey()
      const { stderr } = await client.run('ssh', ['berth@berth', certificateCommand({ seconds: 60, key })])
      match(stderr, 'Permission denied (publickey,password)')
    })

    it('are refused when they are over, not yet begun, too long, or of another authority', async () => {
      const now = Date.now()
      for (const [why, said, by] of [
        ['it is over', { since: now - hours(2), until: now - 1000 }],
        ['it does not count yet', { since: now + minutes(5), until: now + hours(1) }],
        ['it counts longer than certificates may here', { until: now + hours(11) }],
        ['another authority signed it', {}, createKeyPair()],
      ] as const) {
        await forge(said, by && { by })
        match((await login('shared')).stderr, DENIED, why)
        match(lastRefusal(), `"why":"${why}"`)
        const isProved = lastRefusal().includes(`"keyId":"${user}"`) && /"serial":"\d+"/.test(lastRefusal())
        is(isProved, by === undefined, why)
      }
    })

    it('are refused when they name somebody otherwise than the proxy does', async () => {
      const nobody = 'it names nobody as this proxy does'
      for (const [why, said] of [
        [nobody, { principals: [] }],
        [nobody, { principals: [user, 'ada@example.com'] }],
        [nobody, { keyId: 'ada@example.com' }],
        [nobody, { keyId: `${user}%41`, principals: [`${user}%41`] }],
        [nobody, { keyId: '', principals: [''] }],
        [nobody, { keyId: 'a b', principals: ['a b'] }],
        [nobody, { keyId: '%FF', principals: ['%FF'] }],
        ['it says no groups as this proxy does', { extensions: new Map() }],
        ['it says no groups as this proxy does', { extensions: new Map([['groups@berth.dev', '["a",1]']]) }],
        ['it says no groups as this proxy does', { extensions: new Map([['groups@berth.dev', '[']]) }],
      ] as const) {
        await forge(said)
        match((await login('shared')).stderr, DENIED, why)
        match(lastRefusal(), `"why":"${why}"`, JSON.stringify(said))
      }
      // Another person is let in where that person is, and here not.
      await share('of-another', { user: 'nobody@example.com' })
      await forge({ keyId: 'nobody@example.com', principals: ['nobody@example.com'] })
      match((await login('of-another')).stderr, IN)
      match((await login('shared')).stderr, DENIED)
    })

    it('are refused with an option, and for a host, as ssh-keygen signs them', async () => {
      const ca = join(client.folder, 'ca')
      await writeFile(ca, (await authority()).secret.reveal(), { mode: 0o600 })
      const sign = (...words: string[]) =>
        promisify(execFile)('ssh-keygen', [
          ...['-q', '-s', ca, '-I', user, '-n', user, '-V', '-1m:+1h', '-O', 'extension:groups@berth.dev=[]'],
          ...words,
          join(client.folder, 'key.pub'),
        ])
      await sign()
      match((await login('shared')).stderr, IN)
      for (const option of ['force-command=id', 'source-address=127.0.0.1/32', 'critical:odd@example.com=1', 'verify-required']) {
        await sign('-O', option)
        match((await login('shared')).stderr, DENIED, option)
        match(lastRefusal(), 'it has an option that nothing is known of here')
      }
      const [, signed = ''] = (await readFile(join(client.folder, 'key-cert.pub'), 'utf8')).split(' ')
      await promisify(execFile)('ssh-keygen', ['-q', '-h', '-s', ca, '-I', user, '-V', '+1h', join(client.folder, 'key.pub')])
      const [, forHost = ''] = (await readFile(join(client.folder, 'key-cert.pub'), 'utf8')).split(' ')
      ok(signed !== forHost)
      match((await login('shared')).stderr, DENIED)
    })

    it('let nobody in who has not the key', async () => {
      await client.makeKey('stolen')
      await forge({}, { key: 'stolen' })
      match((await login('shared', 'stolen')).stderr, IN)
      // The file says the right public half; the other is somebody else's.
      const file = join(client.folder, 'stolen')
      const [head = '', ...lines] = (await readFile(file, 'utf8')).trim().split('\n')
      const bytes = Buffer.from(lines.slice(0, -1).join(''), 'base64')
      const [, blob = ''] = await publicKey('stolen')
      const point = Buffer.from(blob, 'base64').subarray(-32)
      bytes.set(randomBytes(32), bytes.lastIndexOf(point) - 32)
      await writeFile(file, `${head}\n${bytes.toString('base64').replaceAll(/(.{70})/g, '$1\n')}\n${lines.at(-1)}\n`)
      const said = await login('shared', 'stolen', '-v')
      match(said.stderr, /Server accepts key: .*stolen.* ED25519-CERT/)
      match(said.stderr, DENIED)
    })

    it('let nobody stay from whom the share is taken, who has signed out, or when they are over', async () => {
      await share('taken')
      await forge({})
      const taken = hold('taken')
      await untilIn('taken')
      await stage.cluster.kube.patch(Workspaces, { name: 'taken', namespace: stage.namespace }, { spec: { shares: [] } })
      await eventually(() => !taken.isOpen, SOON)

      await share('brief')
      // A slow machine needs a while to log in.
      await forge({ until: Date.now() + seconds(20) })
      const brief = hold('brief')
      await untilIn('brief')
      ok(brief.isOpen)
      await eventually(() => !brief.isOpen, { within: seconds(60) })
      await eventually(async () => (await login('brief')).stderr.includes(DENIED))

      await share('out')
      await forge({})
      const out = hold('out')
      await untilIn('out')
      const digest = createHash('sha256').update(user).digest('hex')
      const ref = { name: 'berth-proxy-sign-outs', namespace: stage.namespace }
      await stage.cluster.kube
        .create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref })
        .catch((thrown: unknown) => ok(thrown))
      await stage.cluster.kube.patch(ConfigMaps, ref, { data: { [digest]: String(Date.now()) } })
      await eventually(() => !out.isOpen, SOON)
      match((await login('out')).stderr, DENIED)
      match(lastRefusal(), 'has signed out everywhere since')
      await forge({ since: Date.now() + seconds(1) })
      match((await login('out')).stderr, IN)
    })

    it('end all together when the key of the authority is taken away', async () => {
      const { kube } = stage.cluster
      const ref = { name: AUTHORITY, namespace: stage.namespace }
      await share('rotated')
      await cert('--key', join(client.folder, 'key.pub'))
      // In the second of a sign-out none is given that counts.
      await eventually(async () => {
        await cert('--key', join(client.folder, 'key.pub'))
        return (await login('rotated')).stderr.includes(IN)
      })
      const held = hold('rotated')
      await eventually(() => (stage.proxy.log().match(/rotated".*"means":"certificate /g)?.length ?? 0) > 1)
      const { line } = await authority()
      await kube.patch(Secrets, ref, { data: { ssh_user_ca_ed25519_key: null } })
      await eventually(() => !held.isOpen, SOON)
      match((await login('rotated')).stderr, DENIED)
      // Another one is made in its place.
      const next = await eventually(async () => (await authority().catch(() => undefined))?.line)
      ok(next !== line)
      await eventually(async () => (await cert('--key', join(client.folder, 'key.pub'))).code === 0)
      match((await login('rotated')).stderr, IN)
      await kube.delete(Secrets, ref)
      await eventually(async () => (await login('rotated')).stderr.includes(DENIED))
      await eventually(async () => (await cert('--key', join(client.folder, 'key.pub'))).code === 0)
      match((await login('rotated')).stderr, IN)
    })
  },
  lacksOpenSsh(),
)
