import { equal, is } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  DeploymentTargetClaims,
  GitOpsDeploymentSyncRuns,
  type Kind,
  type KubeObject,
  Previews,
  SpaceRequests,
  Workspaces,
} from '../../src/api/index.ts'
import { bindUser, untilMay } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { preview } from '../support/previews.ts'
import { requestedBy, spaceRequest } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim } from '../support/targets.ts'
import { workspace } from '../support/workspaces.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const SHIPPED = 'isolation-level-namespace'

interface Asked {
  what: string
  kind: Kind
  object: (namespace: string, name: string) => KubeObject
  /** Another class or tier; absent where the schema lets nobody change it. */
  renamed?: object
}

const ASKED: Asked[] = [
  {
    what: 'SpaceRequest',
    kind: SpaceRequests,
    object: (namespace, name) => spaceRequest(namespace, name, { tierName: 'appstudio-env' }),
    renamed: { tierName: '' },
  },
  {
    what: 'DeploymentTargetClaim',
    kind: DeploymentTargetClaims,
    object: (namespace, name) => claim(namespace, name, { deploymentTargetClassName: SHIPPED }),
    renamed: { deploymentTargetClassName: 'another' },
  },
  {
    what: 'Preview',
    kind: Previews,
    object: preview,
    renamed: { deploymentTargetClassName: 'another' },
  },
  {
    what: 'GitOpsDeploymentSyncRun',
    kind: GitOpsDeploymentSyncRuns,
    object: (namespace, name) => ({
      ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeploymentSyncRun' },
      metadata: { name, namespace },
      spec: { gitopsDeploymentName: 'shop' },
    }),
  },
  {
    what: 'Workspace',
    kind: Workspaces,
    object: workspace,
  },
]

const requesterIn = ({ metadata }: KubeObject): string[] | undefined => metadata.annotations?.[annotations.requester]?.split('\n')
describe('who asked', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const ada = kube.as({ user: ADA, groups: ['team-a', 'system:authenticated'] })
  const bob = kube.as({ user: BOB })
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('requester')
    for (const user of [ADA, BOB]) {
      await bindUser(kube, namespace, user, 'admin')
      await untilMay(kube, namespace, user, { verb: 'create', group: 'berth.dev', resource: 'workspaces' })
    }
  })
  it.after(() => cluster.close())

  for (const { what, kind, object, renamed } of ASKED) {
    const named = what.toLowerCase()
    const say = (as: Kube, requester: string | null) =>
      as.patch(
        kind,
        { name: named, namespace },
        { metadata: { annotations: { [annotations.requester]: requester, touched: `${requester}` } } },
      )

    it(`for a ${what} is written down with all groups, whatever the manifest says`, async () => {
      const forged = requestedBy('root\nsystem:masters', object(namespace, named))
      equal(requesterIn(await ada.create(kind, forged)), [ADA, 'team-a', 'system:authenticated'])
    })

    it(`for a ${what} is changed by nobody who may write it, and kept when others touch it`, async () => {
      for (const requester of ['root\nsystem:masters', '', null])
        equal(requesterIn(await say(bob, requester)), [ADA, 'team-a', 'system:authenticated'])
    })

    if (renamed)
      it(`for a ${what} is who named its class or tier last`, async () => {
        const changed = bob.patch(kind, { name: named, namespace }, { spec: renamed })
        // Bob may use the class whether there is one or not: all are open as shipped.
        equal(requesterIn(await changed), [BOB, 'system:authenticated'])
        equal(requesterIn(await ada.patch(kind, { name: named, namespace }, { spec: renamed })), [BOB, 'system:authenticated'])
      })

    it(`for a ${what} is said for somebody else by who may use all tiers`, async () => {
      is(requesterIn(await say(kube, 'grace\nteam-g'))?.join(), 'grace,team-g')
      const restored = requestedBy('grace\nteam-g', object(namespace, `${named}-restored`))
      is(requesterIn(await kube.create(kind, restored))?.join(), 'grace,team-g')
      const own = requesterIn(await kube.create(kind, object(namespace, `${named}-own`)))
      is(own?.includes('system:masters'), true, String(own))
    })
  }

  it('for a claim that named a target of its namespace is who takes that away', async () => {
    const named = claim(namespace, 'by-hand', { deploymentTargetClassName: SHIPPED, targetName: 'mine' })
    equal(requesterIn(await ada.create(DeploymentTargetClaims, named))?.[0], ADA)
    const change = (targetName: string) =>
      bob.patch(DeploymentTargetClaims, { name: 'by-hand', namespace }, { spec: { targetName } })
    equal(requesterIn(await change('another'))?.[0], ADA)
    equal(requesterIn(await change(''))?.[0], BOB)
  })
})
