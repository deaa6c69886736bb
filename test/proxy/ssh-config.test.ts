import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { ConfigMaps, Workspaces } from '../../src/api/index.ts'
import { gatewayIn, sshOf } from '../../src/operator/workspace/status/ssh.ts'
import { berth } from '../cli/berth.ts'
import { describe } from '../support/suite.ts'
import { lacksOpenSsh, type SshClient, sshClient } from './ssh-client.ts'
import { type Stage, setStage } from './stage.ts'

describe(
  'SSH by the configuration that berth writes',
  (it) => {
    let stage: Stage
    let keys: SshClient
    let home = ''
    it.before(async () => {
      const address = `127.0.0.1:${await freePort()}`
      stage = await setStage((_request, response) => void response.end('a page'), { sshListen: address, sshAddress: address })
      keys = await sshClient(address)
      home = await mkdtemp(join(tmpdir(), 'berth-home-'))
      const sshKeys = [await keys.makeKey('key')]
      await stage.workspace('web', { spec: { sshKeys } })
      await tellStatus()
    })
    it.after(async () => {
      await rm(home, { recursive: true })
      await keys.close()
      await stage.close()
    })
    /** In the operator's place, which is not here. */
    async function tellStatus(): Promise<void> {
      const { cluster, namespace } = stage
      const map = await cluster.kube.get(ConfigMaps, { name: 'berth-proxy-ssh', namespace })
      const workspace = await cluster.kube.get(Workspaces, { name: 'web', namespace })
      const ssh = workspace && sshOf(workspace, gatewayIn(map), {})
      await cluster.kube.patch(Workspaces, { name: 'web', namespace }, { status: { ssh } }, { subresource: 'status' })
    }
    const write = (...more: string[]) =>
      berth(['ssh-config', '--kubeconfig', stage.cluster.kubeconfig, '-n', stage.namespace, '--write', ...more], {
        env: { HOME: home },
      })
    /** With nothing but that file, and nobody at a terminal. */
    const ssh = (...words: string[]): Promise<{ code: number; stderr: string }> =>
      new Promise((resolve) =>
        execFile(
          'ssh',
          ['-F', join(home, '.ssh', 'config'), ...words],
          { env: { PATH: process.env.PATH } },
          (error, _out, stderr) => resolve({ code: Number(error?.code ?? 0), stderr }),
        ),
      )

    it('asks nobody anything', async () => {
      is((await write('--identity', join(keys.folder, 'key'))).code, 0)
      const { code, stderr } = await ssh(`web.${stage.namespace}.berth`, 'true')
      // Whoever is let in is told why nothing runs.
      equal([code, stderr.includes('web has no target yet')], [255, true], stderr)
      not.match(stderr, /known hosts|authenticity/)
    })

    it('refuses a host with another key, whatever else is known', async () => {
      await write('--identity', join(keys.folder, 'key'))
      const pins = join(home, '.ssh', 'berth', 'known_hosts')
      const other = (await keys.makeKey('other')).split(' ').slice(0, 2).join(' ')
      const right = await readFile(pins, 'utf8')
      await writeFile(pins, `web.${stage.namespace}.berth ${other}\n`)
      const { code, stderr } = await ssh(`web.${stage.namespace}.berth`, 'true')
      is(code, 255)
      match(stderr, 'REMOTE HOST IDENTIFICATION HAS CHANGED')
      match(stderr, 'Host key verification failed')
      // And it is right again once it is written again.
      await write('--identity', join(keys.folder, 'key'))
      is(await readFile(pins, 'utf8'), right)
    })

    it('refuses a host whose key it does not know', async () => {
      await write('--identity', join(keys.folder, 'key'))
      await writeFile(join(home, '.ssh', 'berth', 'known_hosts'), '')
      match((await ssh(`web.${stage.namespace}.berth`, 'true')).stderr, 'Host key verification failed')
    })
  },
  lacksOpenSsh(),
)
