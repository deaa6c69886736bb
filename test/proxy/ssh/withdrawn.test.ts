import { equal } from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import { describe } from '../../support/suite.ts'
import { setStage } from '../stage.ts'

describe('SSH that a proxy takes no more', (it) => {
  it('is told nobody', async () => {
    const data = {
      host: 'ssh.example.com',
      port: '22',
      hostKey: 'ssh-ed25519 AAAA',
      known_hosts: 'ssh.example.com ssh-ed25519 AAAA\n',
      certificateHours: '8',
    }
    const stage = await setStage(
      (_request, response) => void response.end('a page'),
      async ({ kube }, namespace) => {
        const metadata = { name: 'berth-proxy-ssh', namespace }
        await kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
        return {}
      },
    )
    const map = await stage.cluster.kube.get(ConfigMaps, { name: 'berth-proxy-ssh', namespace: stage.namespace })
    equal(map?.data ?? {}, {})
    await stage.close()
  })
})
