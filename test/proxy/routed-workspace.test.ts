import { equal } from 'uvu/assert'
import { labels, type Service } from '../../src/api/index.ts'
import { routedWorkspaceOf } from '../../src/proxy/routed-workspace.ts'
import { published } from '../engines/access/neighbourhood.ts'
import { describe } from '../support/suite.ts'

const plain = published('web')
const workspace = { ...plain, status: { ...plain.status, target: { namespace: 'space' } } }

const own: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'workspace-web', namespace: 'space', labels: { [labels.workspaceUid]: 'uid-of-web' } },
  spec: { type: 'ClusterIP', clusterIP: '10.0.0.7', ports: [{ name: 'app', port: 3000, protocol: 'TCP' }] },
}
const upstreams = (...services: Service[]) => [...routedWorkspaceOf(workspace, services, {}).upstreams]
const named = (name: string, namespace = 'space'): Service => ({ ...own, metadata: { ...own.metadata, name, namespace } })
const made = (spec: Service['spec']): Service => ({ ...own, spec: { ...own.spec, ...spec } })

describe('where the ports of a workspace answer', (it) => {
  it('is the cluster IP of the Service that the operator made, by port', () => {
    equal(upstreams(own), [[3000, { host: '10.0.0.7', port: 3000 }]])
    equal(upstreams(named('workspace-web-pod-0a1b2c3d')), [[3000, { host: '10.0.0.7', port: 3000 }]])
  })

  it('is not what anybody else has labelled', () => {
    equal(upstreams(named('workspace-web', 'team-evil')), [])
    for (const name of [
      'workspace-we',
      'workspace-web2',
      'workspace-web-not',
      'workspace-web-pod-xyz',
      'web',
      'x-pod-0a1b2c3d',
      'w-pod-0a1b2c3d',
    ])
      equal(upstreams(named(name)), [], name)
    equal([...routedWorkspaceOf(plain, [own], {}).upstreams], [], 'where it lies is not known')
  })

  it('is no name that leads elsewhere, no port that is not TCP, and no Service without an address', () => {
    equal(upstreams(made({ type: 'ExternalName', externalName: 'evil.example' })), [])
    equal(upstreams(made({ type: 'LoadBalancer' })), [])
    equal(upstreams(made({ clusterIP: 'None' })), [])
    equal(upstreams(made({ clusterIP: '' })), [])
    equal(upstreams(made({ ports: [{ name: 'app', port: 3000, protocol: 'UDP' }] })), [])
  })
})
