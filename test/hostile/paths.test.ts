import { equal, is, match } from 'uvu/assert'
import { type Agent, Agents, ConfigMaps, conditionOf, DeploymentTargetClaims, GitProjects } from '../../src/api/index.ts'
import { Failure } from '../../src/std/index.ts'
import { createProject, project } from '../kas/running-kas.ts'
import type { TestRepository } from '../support/git-host.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually, expectObject } from '../support/verbs.ts'
import { bringUp, type Installation } from './installation.ts'

const FILE = (agent: string) => `.berth/agents/${agent}/config.yaml`
const map = (name: string, namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: ${namespace} }\n`
const manifests = (...ids: string[]) => `gitops: { manifest_projects: [${ids.map((id) => `{ id: ${id} }`).join(', ')}] }\n`

/** A path is what people trust in, and anybody may write one: mallory takes the paths of others, to be taken for them. */
describe('hostile: the paths of others', (it) => {
  let berth: Installation
  let own: Record<'config' | 'newlib' | 'base', TestRepository>
  let mallorys: Record<'config' | 'loot', TestRepository>
  it.before(async () => {
    berth = await bringUp(['team-a', 'platform', 'evil'])
    const repository = async (name: string, files: Record<string, string>) => {
      const made = await berth.host.repository(name)
      await made.commit(files)
      return made
    }
    own = {
      config: await repository('config', { [FILE('dev')]: manifests('platform/newlib') }),
      newlib: await repository('newlib', { 'a.yaml': map('newlib', 'team-a') }),
      base: await repository('base', { [FILE('far')]: manifests('platform/newlib') }),
    }
    const loot = manifests('evil/loot', 'platform/newlib')
    mallorys = {
      config: await repository('mallorys', { [FILE('dev')]: loot, [FILE('far')]: loot }),
      loot: await repository('loot', { 'a.yaml': map('taken', 'kube-system') }),
    }
  })
  it.after(() => berth.stop())

  const grants = { agents: [{ name: '*', namespace: 'team-a' }] }
  const taken = async () => (await berth.kube.get(ConfigMaps, { name: 'taken', namespace: 'kube-system' })) !== undefined
  const agent = (name: string, check: (agent: Agent) => unknown) =>
    expectObject(berth.kube, Agents, { name, namespace: 'team-a' }, check)
  const reason = ({ status }: Agent, type: string) => conditionOf(status?.conditions, type)?.reason
  const remade = async (namespace: string, name: string, url: string) => {
    await berth.kube.delete(GitProjects, { name, namespace })
    await createProject(berth.kube, namespace, name, { url, grants })
  }

  it('are not for the space that anybody may claim: its account makes nothing of what Berth trusts', async () => {
    const space = await berth.space(await berth.person('mallory', 'evil', 'edit'), 'evil', 'mine')
    await space.kube.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'hers', namespace: space.namespace },
    })
    const hers = project(space.namespace, 'config', { url: mallorys.config.url, path: `${space.namespace}/config` })
    match(await refusalOf(space.kube.create(GitProjects, hers)), 'cannot create resource "gitprojects"')
    const metadata = { name: 'dev', namespace: space.namespace }
    const registration = {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Agent',
      metadata,
      spec: { configurationProject: 'team-a/config' },
    }
    match(await refusalOf(space.kube.create(Agents, registration)), 'cannot create resource "agents"')
    const claim = {
      apiVersion: 'appstudio.redhat.com/v1alpha1',
      kind: 'DeploymentTargetClaim',
      metadata,
      spec: { deploymentTargetClassName: 'x' },
    }
    match(await refusalOf(space.kube.create(DeploymentTargetClaims, claim)), 'cannot create resource "deploymenttargetclaims"')
  })

  it('are refused to whoever leads another namespace', async () => {
    const madmin = await berth.person('madmin', 'evil', 'admin')
    const url = mallorys.config.url
    for (const path of ['team-a/config', 'platform/base'])
      match(await refusalOf(createProject(madmin, 'evil', 'config', { url, path })), 'does not begin with evil/')
    await createProject(madmin, 'evil', 'loot', { url: mallorys.loot.url, grants })
  })

  it('lead nowhere where they were taken before there was a rule', async () => {
    const { kube } = berth
    const bindings = await kube.resolve('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding')
    const rule = bindings && (await kube.get(bindings, { name: 'git-project.berth.dev' }))
    if (!rule) throw new Failure('not-found', 'there is no policy about paths')
    await kube.delete(bindings, rule.metadata)
    const squat = { visibility: 'public', grants } as const
    await eventually(() => createProject(kube, 'evil', 'config', { ...squat, url: mallorys.config.url, path: 'team-a/config' }))
    await createProject(kube, 'evil', 'newlib', { ...squat, url: mallorys.loot.url, path: 'platform/newlib' })
    await createProject(kube, 'evil', 'base', { ...squat, url: mallorys.config.url, path: 'platform/base' })
    await apply(kube, { ...rule, metadata: { name: rule.metadata.name } })
    // Each of them is older than what its owner makes now.
    await createProject(kube, 'team-a', 'config', { url: own.config.url })
    await berth.agent('team-a', 'dev', { path: 'team-a/config' })
    await agent('dev', (now) => reason(now, 'ConfigurationValid') === 'Valid')
    const { status } = await agent('dev', (now) => now.status?.projects?.[0]?.message !== undefined)
    equal(
      status?.projects?.map(({ id, commit, objects }) => [id, commit, objects]),
      [['platform/newlib', undefined, 0]],
    )
    match(status?.projects?.[0]?.message ?? '', 'there is no GitProject with path platform/newlib that Agent team-a/dev may read')
    await createProject(kube, 'platform', 'newlib', { url: own.newlib.url, grants })
    await eventually(() => kube.get(ConfigMaps, { name: 'newlib', namespace: 'team-a' }))
    is(await taken(), false)
  })

  it('do not come into use while their owner has deleted his; nor does another project of his own, until it is trusted', async () => {
    const { kube } = berth
    const before = (await kube.get(Agents, { name: 'dev', namespace: 'team-a' }))?.status?.configuration?.commit
    await kube.delete(GitProjects, { name: 'config', namespace: 'team-a' })
    await agent('dev', (now) => reason(now, 'ConfigurationValid') === 'ProjectNotAccessible')
    // As an attacker would who has won a right in the owner's namespace for a moment.
    await createProject(kube, 'team-a', 'config', { url: mallorys.config.url })
    const held = await agent('dev', (now) => reason(now, 'ProjectsTrusted') === 'ProjectReplaced')
    match(conditionOf(held.status?.conditions, 'Ready')?.message ?? '', 'berth agent trust dev --namespace team-a')
    is(held.status?.configuration?.commit, before)
    const first = held.status?.knownProjects?.find(({ path }) => path === 'team-a/config')?.replacedBy?.uid
    await remade('team-a', 'config', own.config.url)
    const { status } = await agent('dev', ({ status: now }) => {
      const uid = now?.knownProjects?.find(({ path }) => path === 'team-a/config')?.replacedBy?.uid
      return uid !== undefined && uid !== first
    })
    is(conditionOf(status?.conditions, 'ProjectsTrusted')?.status, 'False')
    const commit = await own.config.commit({ 'notice.txt': 'later' })
    match(await berth.berth('agent', 'trust', 'dev', '-n', 'team-a', '--dry-run'), 'team-a/config')
    await agent('dev', (now) => reason(now, 'ProjectsTrusted') === 'ProjectReplaced')
    match(await berth.berth('agent', 'trust', 'dev', 'team-a/config', '-n', 'team-a'), 'team-a/config')
    await agent('dev', (now) => reason(now, 'ProjectsTrusted') === 'Trusted' && now.status?.configuration?.commit === commit)
    match(await berth.berth('agent', 'trust', 'dev', '-n', 'team-a'), 'waits for no GitProject')
    is(await taken(), false)
  })

  it('are gone on with when another project of them is trusted: what came from the one before is looked after', async () => {
    await remade('platform', 'newlib', own.newlib.url)
    await agent('dev', (now) => reason(now, 'ProjectsTrusted') === 'ProjectReplaced')
    await berth.berth('agent', 'trust', 'dev', '-n', 'team-a')
    await own.newlib.commit({ 'a.yaml': `${map('newlib', 'team-a')}data: { is: new }` })
    await expectObject(berth.kube, ConfigMaps, { name: 'newlib', namespace: 'team-a' }, ({ data }) => data?.is === 'new')
    is(await taken(), false)
  })

  it('do not come into use either where the configuration is in another namespace, which the Agent has to name', async () => {
    const { kube } = berth
    await createProject(kube, 'platform', 'base', { url: own.base.url, grants })
    await berth.agent('team-a', 'lost', { path: 'platform/base' })
    const lost = await agent('lost', (now) => reason(now, 'ConfigurationValid') === 'ProjectNotAccessible')
    match(conditionOf(lost.status?.conditions, 'Ready')?.message ?? '', 'name that in spec.configurationProjectNamespace')
    await berth.agent('team-a', 'far', { path: 'platform/base', namespace: 'platform' })
    const { status } = await agent('far', (now) => reason(now, 'Ready') === 'Ready')
    // kubectl replace --force
    await remade('platform', 'base', own.base.url)
    const held = await agent('far', (now) => reason(now, 'ProjectsTrusted') === 'ProjectReplaced')
    equal(held.status?.configuration, status?.configuration)
    await berth.berth('agent', 'trust', 'far', '-n', 'team-a')
    await agent('far', (now) => reason(now, 'Ready') === 'Ready')
    is(await taken(), false)
  })
})
