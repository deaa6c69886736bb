import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { is, match } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { createKeyPair, signCertificate } from '../../src/adapters/ssh/index.ts'
import { ConfigMaps, Workspaces } from '../../src/api/index.ts'
import { gatewayIn, sshOf } from '../../src/operator/workspace/status/ssh.ts'
import { hours } from '../../src/std/index.ts'
import { berth } from '../cli/berth.ts'
import { allow, deployer } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { lacksOpenSsh, type SshClient, sshClient } from './ssh-client.ts'
import { trustHost } from './ssh-host.ts'
import { type Stage, setStage } from './stage.ts'

const run = promisify(execFile)
const IN = 'has no target yet'
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']

describe(
  'a certificate for SSH, beside an agent with more keys than a server is shown, and a certificate of somebody else',
  (it) => {
    let stage: Stage
    let client: SshClient
    let home = ''
    let agent: ChildProcess | undefined
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH }
    const foreign = () => `Host *\n  CertificateFile ${join(home, 'other-cert.pub')}\n`
    it.before(async () => {
      const address = `127.0.0.1:${await freePort()}`
      stage = await setStage((_request, response) => void response.end('a page'), {
        ...{ sshListen: address, sshAddress: address, sshCertificatesFor: '8' },
      })
      const { namespace, cluster } = stage
      client = await sshClient(address)
      await trustHost(client, cluster.kube, namespace)
      home = await mkdtemp(join(tmpdir(), 'berth-home-'))
      const user = `system:serviceaccount:${namespace}:grace`
      await writeFile(join(home, 'kubeconfig'), (await deployer(cluster.kube, namespace, { name: 'grace' })).kubeconfig)
      const right = { group: '', resource: 'configmaps', name: 'berth-proxy-ssh' }
      await allow(cluster.kube, namespace, user, { ...right, verbs: ['get'] })
      const spec = { shares: [{ name: 'pair', user, ports: ['editor-server'] }] }
      await stage.workspace('shared', { spec, ports: [{ name: 'editor-server', port: 3000 }] })
      const key = { type: 'ssh-ed25519', blob: createKeyPair().line.split(' ')[1] ?? '' }
      const said = { keyId: user, principals: [user], since: Date.now(), until: Date.now() + hours(1), extensions: new Map() }
      const { text } = signCertificate(createKeyPair(), { key, ...said })
      await writeFile(join(home, 'other-cert.pub'), `ssh-ed25519-cert-v01@openssh.com ${text}\n`)
      const socket = join(home, 'agent')
      agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
      await eventually(() => stat(socket).catch(() => undefined))
      env.SSH_AUTH_SOCK = socket
      for (const name of KEYS) {
        await client.makeKey(name)
        await run('ssh-add', ['-q', join(client.folder, name)], { env })
      }
    })
    it.after(async () => {
      agent?.kill()
      await client?.close()
      await stage.close()
      await rm(home, { recursive: true })
    })
    const ssh = async (...words: string[]): Promise<string> =>
      (await run('ssh', [...words, 'true'], { env }).catch((error) => error)).stderr
    const cert = async () => {
      const place = ['--kubeconfig', join(home, 'kubeconfig'), '--berth-namespace', stage.namespace]
      const { code, stdout, stderr } = await berth(['ssh-cert', ...place], { env: { HOME: home } })
      is(code, 0, stderr)
      return stdout.trim()
    }

    it('is shown first as `berth ssh-cert` prints it', async () => {
      const known = `UserKnownHostsFile ${join(client.folder, 'known_hosts')}\nHostKeyAlias berth\nBatchMode yes\n`
      await writeFile(join(home, 'plain'), `${known}${foreign()}`)
      const [program, ...words] = (await cert()).replace('WORKSPACE.NAMESPACE', `shared.${stage.namespace}`).split(' ')
      is(program, 'ssh')
      match(await ssh('-F', join(home, 'plain'), ...words), IN)
      // Without it the keys of the agent are all that is heard of.
      const isOfCertificate = (word: string | undefined) => word?.startsWith('CertificateFile=') ?? false
      const plain = words.filter((word, at) => !isOfCertificate(word) && !isOfCertificate(words[at + 1]))
      match(await ssh('-F', join(home, 'plain'), ...plain), /disconnect|closed|denied/i)
    })

    it('is shown first as `berth ssh-config` writes it', async () => {
      await cert()
      const { cluster, namespace } = stage
      const ref = { name: 'shared', namespace }
      const map = await cluster.kube.get(ConfigMaps, { name: 'berth-proxy-ssh', namespace })
      const workspace = await cluster.kube.get(Workspaces, ref)
      // In the operator's place, which is not here.
      const status = { ssh: workspace && sshOf(workspace, gatewayIn(map), {}) }
      await cluster.kube.patch(Workspaces, ref, { status }, { subresource: 'status' })
      const words = ['ssh-config', '--kubeconfig', cluster.kubeconfig, '-n', namespace, '--write']
      const { code, stderr } = await berth(words, { env: { HOME: home } })
      is(code, 0, stderr)
      const config = join(home, '.ssh', 'config')
      await writeFile(config, `${await readFile(config, 'utf8')}${foreign()}`)
      match(await ssh('-F', config, `shared.${namespace}.berth`), IN)
    })
  },
  lacksOpenSsh(),
)
