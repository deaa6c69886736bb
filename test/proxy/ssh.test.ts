import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { equal, is, match, ok } from 'uvu/assert'
import { annotations, ConfigMaps, type WorkspaceSpec, Workspaces } from '../../src/api/index.ts'
import { seconds } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { lacksOpenSsh, type SshClient, sshClient } from './ssh-client.ts'
import { trustHost } from './ssh-host.ts'
import { type Stage, setStage } from './stage.ts'

/** Far less than anything else would take that ends them, and more than a busy machine holds up one process. */
const SOON = { within: seconds(10) }
const EDITOR = { ports: [{ name: 'editor-server', port: 3000 }] }

describe(
  'SSH at the proxy',
  (it) => {
    let stage: Stage
    let client: SshClient
    it.before(async () => {
      stage = await setStage((_request, response) => void response.end('a page'), {
        sshListen: '127.0.0.1:0',
        sshAddress: 'ssh.ws.example.com',
      })
      client = await sshClient(stage.proxy.addresses.ssh ?? '')
      await trustHost(client, stage.cluster.kube, stage.namespace)
      for (const name of ['key', 'stranger']) await client.makeKey(name)
    })
    it.after(async () => {
      await client.close()
      await stage.close()
    })

    const named = (name: string) => `${name}.${stage.namespace}@berth`
    const change = (name: string, spec: WorkspaceSpec) =>
      stage.cluster.kube.patch(Workspaces, { name, namespace: stage.namespace }, { spec })
    const lineOf = async (key: string, ...kind: string[]) => (await client.makeKey(key, ...kind)).replace(/ a test$/, '')
    const publicKey = async (key: string) => (await readFile(`${client.folder}/${key}.pub`, 'utf8')).trim()
    /** Somebody who has logged in is told why nothing runs: here no workspace has a target. */
    const login = (name: string, key = 'key', ...more: string[]) => client.run('ssh', [...more, named(name), 'true'], { key })
    const DENIED = 'Permission denied (publickey)'
    /** A connection that stays, and whether it is still there. */
    const hold = (name: string, key = 'key') => {
      const child = client.start('ssh', ['-N', named(name)], { key })
      const held = { isOpen: true }
      child.once('close', () => {
        held.isOpen = false
      })
      return { child, held }
    }
    const linesOfConnections = async () => {
      const map = await stage.cluster.kube.get(ConfigMaps, { name: 'berth-proxy-connections', namespace: stage.namespace })
      return Object.values(map?.data ?? {}).join('')
    }

    it('lets the owner in by each kind of key, and tells why nothing runs', async () => {
      const kinds = [['ed25519'], ['ecdsa', '-b', '256'], ['ecdsa', '-b', '384'], ['ecdsa', '-b', '521'], ['rsa', '-b', '3072']]
      const sshKeys = await Promise.all(kinds.map(([type = '', ...bits], at) => lineOf(`kind-${at}`, '-t', type, ...bits)))
      await stage.workspace('kinds', { spec: { sshKeys } })
      for (const [at, kind] of kinds.entries()) {
        const { code, stderr } = await login('kinds', `kind-${at}`)
        equal([kind, code], [kind, 255])
        match(stderr, 'Workspace', String(kind))
        match(stderr, 'kinds has no target yet', String(kind))
      }
    })

    it('tells everybody who may read it by what to know the host', async () => {
      const map = await stage.cluster.kube.get(ConfigMaps, { name: 'berth-proxy-ssh', namespace: stage.namespace })
      await writeFile(`${client.folder}/published`, map?.data?.known_hosts ?? '')
      const known = ['-o', `UserKnownHostsFile=${client.folder}/published`, '-o', 'HostKeyAlias=ssh.ws.example.com']
      const name = `nothing.${stage.namespace}@berth`
      const { stderr } = await client.run('ssh', [name], { key: 'stranger', first: known })
      match(stderr, DENIED)
    })

    it('answers the same to a stranger, whatever there is', async () => {
      await stage.workspace('one', { spec: { sshKeys: [await lineOf('one')] } })
      await stage.workspace('none')
      for (const name of ['one', 'none', 'nothing', 'a.b.c', '', 'x'.repeat(400)]) {
        const { code, stderr } = await login(name, 'stranger')
        equal([name, code], [name, 255])
        match(stderr, DENIED, name)
      }
    })

    it('takes no key of RSA that is short, no signature with SHA-1 and no old algorithm', async () => {
      const short = await lineOf('short', '-t', 'rsa', '-b', '1024')
      const long = await lineOf('long', '-t', 'rsa', '-b', '2048')
      await stage.workspace('rsa', { spec: { sshKeys: [short, long] } })
      match((await login('rsa', 'long')).stderr, 'no target yet')
      match((await login('rsa', 'short', '-o', 'RequiredRSASize=1024')).stderr, DENIED)
      match((await login('rsa', 'long', '-o', 'PubkeyAcceptedAlgorithms=ssh-rsa')).stderr, DENIED)
      for (const old of ['KexAlgorithms=diffie-hellman-group14-sha1', 'Ciphers=aes128-cbc', 'HostKeyAlgorithms=ssh-rsa'])
        match((await login('rsa', 'long', '-o', old)).stderr, 'no matching', old)
    })

    it('lets nobody in where the class says so', async () => {
      const sshKeys = [await lineOf('class')]
      await stage.workspace('class', { spec: { sshKeys } })
      match((await login('class', 'class')).stderr, 'no target yet')
      const status = { class: { settings: { proxy: { sshEnabled: false } } } }
      const ref = { name: 'class', namespace: stage.namespace }
      await stage.cluster.kube.patch(Workspaces, ref, { status }, { subresource: 'status' })
      await eventually(async () => (await login('class', 'class')).stderr.includes(DENIED))
    })

    it('says that a workspace is stopped, and how it is started', async () => {
      const spec: WorkspaceSpec = { sshKeys: [await lineOf('stopped')], desiredState: 'Stopped' }
      await stage.workspace('stopped', { spec, state: 'Stopped' })
      const { code, stderr } = await login('stopped', 'stopped')
      is(code, 255)
      const { namespace } = stage
      match(stderr, `stopped in ${namespace} is stopped. Start it with: berth start stopped -n ${namespace}`)
      match((await client.run('ssh', ['-W', 'localhost:80', named('stopped')], { key: 'stopped' })).stderr, 'is stopped')
    })

    it('hangs up on somebody who tries too often', async () => {
      for (let at = 0; at < 8; at++) await client.makeKey(`try-${at}`)
      const tries = Array.from({ length: 8 }, (_, at) => ['-i', `${client.folder}/try-${at}`]).flat()
      const { stderr } = await login('nothing', 'try-0', ...tries)
      match(stderr, /^(Received disconnect|Disconnected|Connection closed)/)
      match(stage.proxy.log(), '"attempts":6')
    })

    it('ends what is open when the key is taken away, and nothing else', async () => {
      await stage.workspace('keys', { spec: { sshKeys: [await lineOf('goes'), await lineOf('stays')] } })
      const [goes, stays] = [hold('keys', 'goes'), hold('keys', 'stays')]
      await eventually(async () => (await stage.proxy.log().match(/logged in over SSH/g))?.length)
      await eventually(async () => (await linesOfConnections()).includes('"port":"ssh"'))
      await change('keys', { sshKeys: [await publicKey('stays')] })
      await eventually(() => !goes.held.isOpen, SOON)
      match((await login('keys', 'goes')).stderr, DENIED)
      ok(stays.held.isOpen)
      // It ends with the workspace, as everything does.
      await change('keys', { desiredState: 'Terminated' })
      await eventually(() => !stays.held.isOpen, SOON)
      await eventually(async () => !(await linesOfConnections()).includes('"port":"ssh"'))
    })
    it('ends when its owner signs out everywhere', async () => {
      await stage.workspace('out', { spec: { sshKeys: [await lineOf('out')] }, ...EDITOR })
      const ada = await stage.signedIn('ada@example.com', 'out')
      const { held } = hold('out', 'out')
      await eventually(async () => (await linesOfConnections()).includes('/out","port":"ssh"'))
      const page = await ada.open('https://3000-out.ws.example.com/.berth/sign-out')
      is((await ada.ask(page.url, { method: 'POST', headers: { origin: page.url.origin } })).status, 200)
      await eventually(() => !held.isOpen, SOON)
    })

    it('hangs up on somebody who says nothing, and on whoever speaks something else', async () => {
      const [host, port] = (stage.proxy.addresses.ssh ?? '').split(':')
      const socket = connect(Number(port), host)
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000))
      await once(socket, 'close')
      match((await login('nothing', 'stranger')).stderr, DENIED)
    })

    it('writes that a workspace was used, and how', async () => {
      await stage.workspace('used', { spec: { sshKeys: [await lineOf('used')] }, idle: 30 })
      match((await login('used', 'used')).stderr, 'no target yet')
      // It is written once a minute, and at the end.
      await stage.proxy.stop()
      const now = await stage.cluster.kube.get(Workspaces, { name: 'used', namespace: stage.namespace })
      is(now?.metadata.annotations?.[annotations.lastActivityBy], 'SSH')
    })
  },
  lacksOpenSsh(),
)
