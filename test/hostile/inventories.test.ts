import { is, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  type ConfigMap,
  ConfigMaps,
  GitOpsDeployments,
  Namespaces,
  RoleBindings,
  Secrets,
  type Subject,
} from '../../src/api/index.ts'
import { allow, bindingOf, deployer } from '../support/builders/credentials.ts'
import { configMap } from '../support/builders/snapshots.ts'
import type { TestRepository } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { bringCluster, bringUp, filesOf, type Installation, sourceOf } from './installation.ts'

const SYNC = 'gitops.berth.dev/sync'
const INVENTORY = 'app.inventory'

/** Carl writes ConfigMaps in `team-a`, where the inventories of its deployments lie, and does nothing else. These reach as far as `prod`. */
describe('hostile: forged inventories', (it) => {
  let berth: Installation
  let carl: Kube
  let repository: TestRepository
  let victims: ConfigMap[]
  it.before(async () => {
    berth = await bringUp(['team-a', 'prod'])
    await allow(berth.kube, 'team-a', 'carl', { group: '', resource: 'configmaps' })
    carl = berth.as('carl')
    const { kubeconfig } = await deployer(berth.kube, 'team-a')
    const subject: Subject = { kind: 'ServiceAccount', name: 'deployer', namespace: 'team-a' }
    await berth.kube.create(RoleBindings, bindingOf('prod', 'admin', [subject]))
    const spec = { apiURL: berth.kube.server, namespaces: ['prod'] }
    await bringCluster(berth.kube, { name: 'prod', namespace: 'team-a' }, kubeconfig, spec)
    victims = await Promise.all([
      victim('nobodys'),
      victim('anothers', { [SYNC]: 'b5a3c1de-0000-4000-8000-000000000000' }),
      victim('agents', { [SYNC]: 'agent-77-7' }),
    ])
    repository = await berth.repository('team-a', 'shop', files('a', 'b'))
  })
  it.after(() => berth.stop())

  const files = (...names: string[]) => Object.fromEntries(names.map((name) => [`app/${name}.yaml`, configMap(name)]))
  const victim = (name: string, marks: Record<string, string> = {}) =>
    berth.kube.create(ConfigMaps, { ...configMap(name), metadata: { name, namespace: 'prod', labels: marks } })
  const follow = (name: string) =>
    berth.follow('team-a', name, {
      source: sourceOf(repository.url, { path: 'app' }),
      destination: { environment: 'prod', namespace: 'prod' },
      deletionPolicy: 'Wait',
    })
  const configuration = (manifest_projects: object[]) => ({
    '.berth/agents/dev/config.yaml': { gitops: { manifest_projects } },
  })
  /** As Berth would have written it: the lines that are there, and those of the victims. */
  const forge = async (name: string) => {
    const ref = { name, namespace: 'team-a' }
    const { data } = await expectObject(berth.kube, ConfigMaps, ref, () => true)
    await carl.patch(ConfigMaps, ref, { data: { objects: [data?.objects ?? '', ...lines()].join('\n') } })
  }
  /** All that a line can say about what is not the deployment's, the namespace itself too. */
  const lines = () => [
    ...victims.map(({ metadata: { name, uid } }) => `/ConfigMap/prod/${name}/v1/${uid}/0123456789abcdef`),
    '/Secret/team-a/prod/v1//',
    '/Namespace//prod/v1//',
  ]
  const there = async (...names: string[]) => {
    for (const name of names) await expectObject(berth.kube, ConfigMaps, { name, namespace: 'prod' }, () => true)
  }
  const gone = (name: string) => expectGone(berth.kube, ConfigMaps, { name, namespace: 'prod' })
  const assertUntouched = async () => {
    for (const { metadata } of victims) {
      const now = await berth.kube.get(ConfigMaps, { name: metadata.name, namespace: 'prod' })
      is(now?.metadata.resourceVersion, metadata.resourceVersion, metadata.name)
    }
    ok(await berth.kube.get(Secrets, { name: 'prod', namespace: 'team-a' }))
    is((await berth.kube.get(Namespaces, { name: 'prod' }))?.metadata.deletionTimestamp, undefined)
  }

  it('have nothing pruned that does not carry the mark of the deployment, whatever their lines say', async () => {
    await follow('app')
    await there('a', 'b')
    await forge(INVENTORY)
    await repository.commit({ 'app/b.yaml': undefined })
    await gone('b')
    await assertUntouched()
  })

  it('have nothing deleted with the deployment either', async () => {
    await forge(INVENTORY)
    await berth.kube.delete(GitOpsDeployments, { name: 'app', namespace: 'team-a' })
    await expectGone(berth.kube, GitOpsDeployments, { name: 'app', namespace: 'team-a' })
    await gone('a')
    await assertUntouched()
  })

  it('stop the deployment that they are of, which says so and how to mend it, and no other', async () => {
    await follow('app')
    await there('a')
    await carl.patch(ConfigMaps, { name: INVENTORY, namespace: 'team-a' }, { data: { objects: 'no/object' } })
    const commit = await repository.commit(filesOf(files('c')))
    await berth.told('team-a', 'app', /names no object in line 1 .*Restore it from a backup/)
    await follow('other')
    await expectObject(
      berth.kube,
      GitOpsDeployments,
      { name: 'other', namespace: 'team-a' },
      ({ status }) => status?.sync?.revision === commit,
    )
    await carl.delete(ConfigMaps, { name: INVENTORY, namespace: 'team-a' })
    await there('c')
    await assertUntouched()
  })

  it('have nothing deleted by an agent either, which may do everything, where one of its inventories lies within reach', async () => {
    await berth.repository('prod', 'base', files('base'))
    const projects = [{ id: 'prod/base', default_namespace: 'team-a', paths: [{ glob: '**/*.yaml' }], deletion: 'delete' }]
    const config = await berth.repository('prod', 'config', configuration(projects))
    await berth.agent('prod', 'dev', { path: 'prod/config' })
    const [own] = await eventually(async () => {
      const found = await berth.kube.list(ConfigMaps, { namespace: 'team-a', labels: 'gitops.berth.dev/inventory=true' })
      const agents = found.filter(({ metadata, data }) => metadata.name.endsWith('-berth') && data?.objects)
      return agents.length > 0 && agents
    })
    ok(own)
    await expectObject(berth.kube, ConfigMaps, { name: 'base', namespace: 'team-a' }, () => true)
    await forge(own.metadata.name)
    await config.commit(filesOf(configuration([])))
    await expectGone(berth.kube, ConfigMaps, { name: 'base', namespace: 'team-a' })
    // It is deleted last of all.
    await expectGone(berth.kube, ConfigMaps, own.metadata)
    await assertUntouched()
  })
})
