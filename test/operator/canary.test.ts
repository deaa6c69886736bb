import * as assert from 'uvu/assert'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  type Kind,
  SANDBOX_PROVISIONER,
  Secrets,
  SpaceRequests,
  SpaceTiers,
} from '../../src/api/index.ts'
import { controllersOf } from '../../src/operator/controllers.ts'
import { parseConfig } from '../../src/operator/index.ts'
import { createLog } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { onlyIn, startOperator } from '../support/operator.ts'
import { describe } from '../support/suite.ts'
import { sweep } from '../support/sweep.ts'
import { claim, target, targetClass } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'

const CANARY = 'canary-4711-must-not-be-seen'

describe('secrets of the targets family', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  it('appear in no log line, Event, status or other object', async () => {
    const namespace = await cluster.namespace('canary')
    const name = `canary-${namespace.slice(-8)}`
    const lines: string[] = []
    const log = createLog('debug', { write: (line) => lines.push(line) })
    await kube.create(SpaceTiers, { apiVersion: 'berth.dev/v1alpha1', kind: 'SpaceTier', metadata: { name }, spec: {} })
    await kube.create(
      DeploymentTargetClasses,
      targetClass(name, { provisioner: SANDBOX_PROVISIONER, parameters: { tierName: name } }),
    )
    const operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      log,
      controllers: (context) =>
        controllersOf(context, parseConfig({}, {}), { follow: () => Promise.resolve() }).map((each) => onlyIn([namespace], each)),
    })

    // Good credentials, and ones that are broken in the middle of the token.
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    const broken = Buffer.from(`users: [{user: {token: ${CANARY}}}, : ]]`).toString('base64')
    const metadata = { name: 'credentials', namespace }
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: { kubeconfig: broken } })
    await kube.create(DeploymentTargets, target(namespace, 'bad'))
    const configuration = { target: { deploymentTargetClaim: { claimName: 'dev' } } }
    const spec = { displayName: 'Dev', deploymentStrategy: 'Manual' as const, configuration }
    await kube.create(Environments, {
      apiVersion: 'appstudio.redhat.com/v1alpha1',
      kind: 'Environment',
      metadata: { name: 'dev', namespace },
      spec,
    })
    await expectObject(kube, DeploymentTargetClaims, { name: 'dev', namespace }, ({ status }) => status?.phase === 'Bound')
    await expectObject(kube, DeploymentTargets, { name: 'bad', namespace }, ({ status }) => status?.phase === 'Pending')
    await expectObject(
      kube,
      Environments,
      { name: 'dev', namespace },
      ({ status }) => status?.conditions?.some(({ reason }) => reason === 'Connected') ?? false,
    )
    await operator.stop()

    const secrets = await kube.list(Secrets, { namespace })
    const tokens = secrets.flatMap(
      ({ data }) => /"?token"?: *"?([\w.-]{20,})/.exec(Buffer.from(data?.kubeconfig ?? '', 'base64').toString())?.[1] ?? [],
    )
    assert.ok(tokens.length >= 2, 'the provisioned token and the canary are known')
    const kinds: Kind[] = [
      DeploymentTargetClaims,
      DeploymentTargets,
      SpaceRequests,
      Environments,
      GitOpsDeploymentManagedEnvironments,
    ]
    const objects = await Promise.all(kinds.map((kind) => kube.list(kind, { namespace })))
    const events = await kube.read(`/api/v1/namespaces/${namespace}/events`)
    const said = `${lines.join('')} ${JSON.stringify(objects)} ${JSON.stringify(events)}`
    assert.ok(said.length > 1000)
    for (const secret of [...tokens, ...secrets.map(({ data }) => data?.kubeconfig ?? CANARY)])
      assert.not.ok(said.includes(secret))

    await sweep(kube, namespace)
    await kube.delete(DeploymentTargetClasses, { name })
    await kube.delete(SpaceTiers, { name })
  })
})
