import { is, match, ok } from 'uvu/assert'
import { type Kube, kubeFromSecret } from '../../src/adapters/kube/index.ts'
import {
  AGENT_PROVISIONER,
  Agents,
  annotations,
  ConfigMaps,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  kubeconfigIn,
  labels,
  Namespaces,
  nameOfSpaceAccount,
  refOf,
  Secrets,
  ServiceAccounts,
  type SpaceRequest,
  SpaceRequests,
} from '../../src/api/index.ts'
import { Secret } from '../../src/std/index.ts'
import { tokenOf } from '../support/builders/credentials.ts'
import { refusalOf } from '../support/refusal.ts'
import { spaceRequest } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { targetClass } from '../support/targets.ts'
import { expectGone, expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, type Space } from './installation.ts'

const AGENT = 'team-a/dev'
const TIER = 'appstudio-env'
const at = (name: string) => ({ name, namespace: 'evil' })

/** In the cluster of ada's agent, which may do everything there, whoever claims a target of class `far` gets a namespace: she does, and mallory. */
describe('hostile: spaces in the cluster of an agent', (it) => {
  let berth: Installation
  let mallory: Kube
  let adas: Space
  let hers: Space
  let request: SpaceRequest
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    await berth.repository('team-a', 'config', { '.berth/agents/dev/config.yaml': '{}' })
    await berth.agent('team-a', 'dev', { path: 'team-a/config' })
    await berth.kube.patch(Agents, { name: 'dev', namespace: 'team-a' }, { spec: { spaces: true } })
    const parameters = { agent: AGENT, tierName: TIER }
    await berth.kube.create(DeploymentTargetClasses, targetClass('far', { provisioner: AGENT_PROVISIONER, parameters }))
    const ada = await berth.person('ada', 'team-a', 'edit')
    mallory = await berth.person('mallory', 'evil', 'edit')
    adas = await berth.space(ada, 'team-a', 'shop', 'far')
    hers = await berth.space(mallory, 'evil', 'shop', 'far')
    const [asked] = await berth.kube.list(SpaceRequests, { namespace: 'team-a' })
    ok(asked)
    request = asked
  })
  it.after(() => berth.stop())

  /** Of the claim for which the request was made. */
  const marks = () => ({ [labels.claim]: 'shop', [labels.claimUid]: request.metadata.labels?.[labels.claimUid] ?? '' })
  const mapsOf = (as: Kube, namespace: string) => refusalOf(as.list(ConfigMaps, { namespace }))
  const assertAdas = async () => {
    const { kube, namespace } = adas
    is((await berth.kube.get(Namespaces, { name: namespace }))?.metadata.deletionTimestamp, undefined)
    ok(await kube.list(ConfigMaps, { namespace }))
  }

  it('are made for claims of a class that names the agent, and for no request that says so itself', async () => {
    const notes = { annotations: { [annotations.agent]: AGENT } }
    await mallory.create(SpaceRequests, spaceRequest('evil', 'plain', { tierName: TIER }, notes))
    await mallory.create(SpaceRequests, spaceRequest('evil', 'marked', { tierName: TIER }, { ...notes, labels: marks() }))
    await expectObject(berth.kube, SpaceRequests, at('plain'), ({ status }) =>
      /no DeploymentTargetClaim of this namespace is behind it/.test(JSON.stringify(status)),
    )
    // Nor for that of a colleague.
    const eve = await berth.person('eve', 'evil', 'edit')
    const shop = await berth.kube.get(DeploymentTargetClaims, at('shop'))
    const hersToo = { [labels.claim]: 'shop', [labels.claimUid]: shop?.metadata.uid ?? '' }
    await eve.create(SpaceRequests, spaceRequest('evil', 'hers', { tierName: TIER }, { ...notes, labels: hersToo }))
    await expectObject(berth.kube, SpaceRequests, at('hers'), ({ status }) =>
      /no DeploymentTargetClaim of this namespace is behind it/.test(JSON.stringify(status)),
    )
    // In her namespace there is no such claim: it is taken for what one has left behind.
    await expectGone(berth.kube, SpaceRequests, at('marked'))
    const made = (await berth.kube.list(Namespaces)).map(({ metadata }) => metadata.annotations?.[annotations.spaceRequest])
    is(made.filter((key) => key?.startsWith('evil/')).length, 1)
    await assertAdas()
  })

  it('let their members into no other, nor into the rest of the cluster, whomever they say they are', async () => {
    const { kube, namespace } = hers
    ok(await kube.list(ConfigMaps, { namespace }))
    // Where Berth is in that cluster, too, nothing of Berth's either.
    match(await refusalOf(kube.list(Agents, { namespace })), 'cannot list resource "agents"')
    const account = `system:serviceaccount:${adas.namespace}:namespace-manager`
    const guises = [kube.as({ user: account, groups: [] }), kube.as({ user: 'root', groups: ['system:masters'] })]
    for (const place of [adas.namespace, 'team-a', 'kube-system']) {
      match(await mapsOf(kube, place), `User "system:serviceaccount:${namespace}:namespace-manager" cannot list`)
      for (const as of guises)
        match(await mapsOf(as, place), 'impersonation headers are for those only who act as the agent itself')
    }
  })

  it('know their members by the request that an account was made for, whatever another account is called and carries', async () => {
    const name = nameOfSpaceAccount(request.metadata.uid ?? '')
    const real = await berth.kube.get(ServiceAccounts, { name, namespace: 'team-a' })
    const own = { labels: real?.metadata.labels ?? {} }
    await mallory.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...at(name), ...own } })
    const token = await tokenOf(mallory, at(name), ['berth-kas'])
    const [mine] = (await berth.kube.list(Secrets, { namespace: 'evil' })).flatMap((secret) => kubeconfigIn(secret) ?? [])
    const text = mine?.reveal() ?? ''
    const forged = kubeFromSecret(new Secret(text.replace(/"?token"?: .*/, `token: ${token}`)), { reach: undefined })
    for (const place of [adas.namespace, hers.namespace])
      match(await mapsOf(forged, place), /does not exist, or you may not reach it/)
    await forged.close()
    await assertAdas()
  })

  it('stay where they are when another request is given their marks; only hers goes', async () => {
    const [mine] = await berth.kube.list(SpaceRequests, { namespace: 'evil', labels: `${labels.claim}=shop` })
    ok(mine)
    await mallory.patch(SpaceRequests, refOf(mine), { metadata: { labels: marks() } })
    await mallory.delete(DeploymentTargetClaims, at('shop'))
    await expectGone(berth.kube, SpaceRequests, refOf(mine))
    await expectGone(berth.kube, Namespaces, { name: hers.namespace })
    await assertAdas()
  })
})
