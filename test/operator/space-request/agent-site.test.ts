import { equal, is, match, ok } from 'uvu/assert'
import { type Answers, createAnswers, kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import {
  AGENT_PROVISIONER,
  Agents,
  annotations,
  ConfigMaps,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  kubeconfigIn,
  Namespaces,
  Secrets,
  SpaceRequests,
  SpaceTiers,
} from '../../../src/api/index.ts'
import type { ControllerContext } from '../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { sandboxTargets } from '../../../src/operator/deployment-target/provisioned/index.ts'
import { sandboxReclaim } from '../../../src/operator/deployment-target/reclaim/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { sandboxProvisioning } from '../../../src/operator/deployment-target-claim/provisioning/index.ts'
import { type AgentAccess, spaceRequests } from '../../../src/operator/space-request/index.ts'
import { isFailure, Secret } from '../../../src/std/index.ts'
import { openFixture } from '../../kas/kubernetes-api/fixture.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceRequest, spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { claim, targetClass } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

const controllers = (context: ControllerContext, agents: AgentAccess) => [
  claimBinding(context),
  targetLifecycle(context),
  sandboxProvisioning(context),
  sandboxTargets(context),
  sandboxReclaim(context),
  spaceRequests(context, { agents }),
]

describe('spaces in the cluster of an agent', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let fixture: Awaited<ReturnType<typeof openFixture>>
  let operator: RunningOperator
  let namespace = ''
  let suffix = ''
  /** Namespaces on whose behalf answers were read. */
  const bounded = new Set<string>()

  it.beforeEach(async () => {
    namespace = await cluster.namespace('far')
    suffix = namespace.slice(-8)
    fixture = await openFixture({ kube, namespace, kubeconfig: cluster.kubeconfig })
    await fixture.agent('dev', {})
    await kube.patch(Agents, at('dev'), { spec: { spaces: true } })
    const { token } = await deployer(kube, namespace, { name: 'operator' })
    const { open } = createAnswers()
    const answers: Answers = {
      open(tenant, most) {
        bounded.add(tenant)
        return open(tenant, most)
      },
    }
    const agents = {
      url: fixture.secureUrl,
      ca: fixture.authority,
      token: async () => new Secret(token),
      audience: 'berth-kas',
      answers,
    }
    await kube.create(SpaceTiers, spaceTier(`tier-${suffix}`))
    await kube.create(DeploymentTargetClasses, classFor(`far-${suffix}`, `${namespace}/dev`))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => controllers(context, agents),
    })
  })
  it.afterEach(async () => {
    await sweep(kube, namespace)
    await operator.stop()
    await fixture.stop()
    for (const { metadata } of await kube.list(DeploymentTargetClasses))
      if (metadata.name.endsWith(suffix)) await kube.delete(DeploymentTargetClasses, metadata)
    await kube.delete(SpaceTiers, { name: `tier-${suffix}` })
  })
  it.after(() => cluster.close())

  const at = (name: string) => ({ name, namespace })
  const classFor = (name: string, agent: unknown) =>
    targetClass(name, {
      provisioner: AGENT_PROVISIONER,
      parameters: { agent, tierName: `tier-${suffix}` },
      reclaimPolicy: 'Delete',
    })
  const ask = (name: string, className = `far-${suffix}`) =>
    kube.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName: className }))
  const bound = (name: string) => expectObject(kube, DeploymentTargetClaims, at(name), ({ status }) => status?.phase === 'Bound')
  const readySays = (name: string, pattern: RegExp) =>
    expectObject(kube, SpaceRequests, at(name), ({ status }) =>
      pattern.test(conditionOf(status?.conditions, 'Ready')?.message ?? ''),
    )

  it('gives a claim a namespace there, and credentials that lead through kas', async () => {
    await ask('shop')
    const { spec } = await bound('shop')
    const target = await expectObject(
      kube,
      DeploymentTargets,
      at(spec.targetName ?? ''),
      ({ status }) => status?.phase === 'Bound',
    )
    const { apiURL, clusterCredentialsSecret, defaultNamespace } = target.spec.kubernetesCredentials
    is(apiURL, `${fixture.secureUrl}/k8s/namespaces/${namespace}/agents/dev`)
    is(target.metadata.annotations?.[annotations.provisionedBy], AGENT_PROVISIONER)

    const secret = await kube.get(Secrets, at(clusterCredentialsSecret))
    const kubeconfig = secret && kubeconfigIn(secret)
    ok(kubeconfig)
    ok(bounded.has(namespace))
    const member = kubeFromSecret(kubeconfig, { server: apiURL, reach: undefined })
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine', namespace: defaultNamespace }, data: { a: 'b' } }
    // A role that was bound is heard of a moment later.
    await eventually(() => member.create(ConfigMaps, map))
    equal((await kube.get(ConfigMaps, { name: 'mine', namespace: defaultNamespace }))?.data, { a: 'b' })
    // In its own space, and nowhere else.
    const elsewhere = await member.create(ConfigMaps, { ...map, metadata: { name: 'mine', namespace } }).catch((thrown) => thrown)
    ok(isFailure(elsewhere, 'forbidden'))
    match(elsewhere.message, `system:serviceaccount:${defaultNamespace}:`)
    // The token is for kas: the management cluster does not take it.
    const own = kubeFromSecret(kubeconfig, { reach: undefined })
    is(own.server, apiURL)

    await kube.delete(DeploymentTargetClaims, at('shop'))
    await expectGone(kube, Namespaces, { name: defaultNamespace })
    await expectGone(kube, DeploymentTargets, at(target.metadata.name))
  })

  it('takes no space to an agent that wants none', async () => {
    await kube.patch(Agents, at('dev'), { spec: { spaces: false } })
    await eventually(() => operator.caches.of(Agents).get(at('dev'))?.spec.spaces === false)
    await ask('shop')
    const request = await eventually(async () => (await kube.list(SpaceRequests, { namespace }))[0])
    await readySays(request.metadata.name, /takes no spaces.*Set spec.spaces/)
    await kube.patch(Agents, at('dev'), { spec: { spaces: true } })
    await bound('shop')
  })

  it('refuses a request that no class is behind, whatever its annotation says', async () => {
    const made = spaceRequest(namespace, 'mine', { tierName: `tier-${suffix}` })
    const metadata = { ...made.metadata, annotations: { [annotations.agent]: `${namespace}/dev` } }
    await kube.create(SpaceRequests, { ...made, metadata })
    await readySays('mine', /no DeploymentTargetClaim of this namespace is behind it/)
    equal(
      (await kube.list(Namespaces)).filter(
        ({ metadata: { annotations: notes } }) => notes?.[annotations.spaceRequest] === `${namespace}/mine`,
      ),
      [],
    )
  })

  it('neither moves a space to another agent nor lets its members into one', async () => {
    const other = await fixture.agent('other', {})
    await kube.patch(Agents, at('other'), { spec: { spaces: true } })
    await ask('shop')
    const { spec } = await bound('shop')
    const target = await kube.get(DeploymentTargets, at(spec.targetName ?? ''))
    const [request] = await kube.list(SpaceRequests, { namespace })
    ok(request)
    const move = { metadata: { annotations: { [annotations.agent]: `${namespace}/other` } } }
    const refused = await kube.patch(SpaceRequests, request.metadata, move).catch((thrown) => thrown)
    match(refused.message, 'annotation berth.dev/agent of a SpaceRequest cannot be changed')

    const secret = await kube.get(Secrets, at(target?.spec.kubernetesCredentials.clusterCredentialsSecret ?? ''))
    const kubeconfig = secret && kubeconfigIn(secret)?.reveal()
    ok(kubeconfig)
    const elsewhere = new Secret(kubeconfig.replace('/agents/dev', `/agents/${other.metadata.name}`))
    const member = kubeFromSecret(elsewhere, { reach: undefined })
    const outcome = await member.list(ConfigMaps, { namespace }).catch((thrown) => thrown)
    ok(isFailure(outcome))
    match(outcome.message, /does not exist, or you may not reach it/)
  })

  it('names the class whose parameters name no agent, or want private spaces, which an agent’s cannot be', async () => {
    await kube.create(DeploymentTargetClasses, classFor(`odd-${suffix}`, 7))
    const { spec, ...wanting } = classFor(`wanting-${suffix}`, `${namespace}/dev`)
    const parameters = { ...spec.parameters, credentials: 'Private' }
    await kube.create(DeploymentTargetClasses, { ...wanting, spec: { ...spec, parameters } })
    await ask('shop', `odd-${suffix}`)
    await ask('vault', `wanting-${suffix}`)
    const says = (words: RegExp) => async () => {
      const { items } = await kube.read<{ items: { message: string }[] }>(`/api/v1/namespaces/${namespace}/events`)
      return items.some(({ message }) => words.test(message))
    }
    await eventually(says(/odd-.*parameters.agent is 7/))
    await eventually(says(/wanting-.*parameters.credentials is "Private"/))
  })

  it('lets a request go whose agent is gone, and says what stays behind', async () => {
    await ask('shop')
    await bound('shop')
    await kube.delete(Agents, at('dev'))
    await eventually(() => !fixture.knows(at('dev')))
    await kube.delete(DeploymentTargetClaims, at('shop'))
    await eventually(async () => (await kube.list(SpaceRequests, { namespace })).length === 0)
    const said = async () => {
      const { items } = await kube.read<{ items: { reason: string }[] }>(`/api/v1/namespaces/${namespace}/events`)
      return items.some(({ reason }) => reason === 'LeftBehind')
    }
    await eventually(said)
  })
})
