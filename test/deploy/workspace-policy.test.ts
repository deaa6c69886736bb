import { readFileSync } from 'node:fs'
import { equal, is, match } from 'uvu/assert'
import { parse } from 'yaml'
import { type WorkspaceSpec, Workspaces } from '../../src/api/index.ts'
import { bindUser, untilMay } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { workspace } from '../support/workspaces.ts'

const OWNER = 'ada@example.com'
const COLLEAGUE = 'grace@example.com'
const ADMIN = 'alan@example.com'

describe('what others may change of a workspace', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('workspace-policy')
    const roles = { [OWNER]: 'edit', [COLLEAGUE]: 'edit', [ADMIN]: 'admin' }
    for (const [name, role] of Object.entries(roles)) {
      await bindUser(cluster.kube, namespace, name, role)
      await untilMay(cluster.kube, namespace, name, { verb: 'patch', group: 'berth.dev', resource: 'workspaces' })
    }
  })
  it.after(() => cluster.close())

  const create = (name: string, spec: WorkspaceSpec = {}) =>
    cluster.kube.as({ user: OWNER }).create(Workspaces, workspace(namespace, name, spec))
  const change = (user: string, name: string, spec: object) =>
    cluster.kube.as({ user }).patch(Workspaces, { name, namespace }, { spec })
  const INSIDE: Record<string, object | string> = {
    devfile: { inline: 'another' },
    ports: [{ name: 'web', port: 8080 }],
    sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPvYYKiWnPi/oBjFFQTF3zPlQUDxxQANZ+mzOFbkXd4j grace'],
    shares: [{ name: 'me', user: COLLEAGUE, ports: ['web'] }],
    schedule: { stop: '0 19 * * *' },
    git: { userName: 'Carl', delivery: 'ByCopy', credentialsSecretRef: { name: 'adas-git' } },
    resources: [{ container: 'tools', limits: { cpu: '2' } }],
    upgradedAt: '2030-01-01T00:00:00Z',
  }

  it('is said of every field of the spec', async () => {
    const crd = parse(readFileSync(new URL('../../crds/berth.dev_workspaces.yaml', import.meta.url), 'utf8'))
    const { spec } = crd.spec.versions[0].schema.openAPIV3Schema.properties
    const rules: { rule: string }[] = spec['x-kubernetes-validations']
    const fields = Object.keys(spec.properties)
    const unchangeable = fields.filter((field) => rules.some(({ rule }) => rule.includes(`self.${field} == oldSelf.${field}`)))
    equal(fields.sort(), [...unchangeable, ...Object.keys(INSIDE), 'desiredState', 'restartedAt', 'keepUntil'].sort())
  })
  it('is whether it runs, and for how long', async () => {
    await create('busy')
    await change(COLLEAGUE, 'busy', { desiredState: 'Stopped' })
    await change(COLLEAGUE, 'busy', { keepUntil: '2030-01-01T00:00:00Z', restartedAt: '2030-01-01T00:00:00Z' })
    is((await change(COLLEAGUE, 'busy', { desiredState: 'Running' })).spec.desiredState, 'Running')
  })
  for (const [field, value] of Object.entries(INSIDE))
    it(`is not its ${field}, unless they administer it`, async () => {
      const name = `inside-${field.toLowerCase()}`
      await create(name, { devfile: { inline: 'mine' } })
      const words = new RegExp(`spec\\.${field} can be changed by the owner, ${OWNER}, and by administrators only`)
      match(await refusalOf(change(COLLEAGUE, name, { [field]: value })), words)
      await change(OWNER, name, { [field]: value })
      await change(ADMIN, name, { [field]: null })
    })
  it('is no annotation of ours, but for those that say of its use', async () => {
    await create('noted')
    const note = (user: string, annotations: Record<string, string | null>) =>
      cluster.kube.as({ user }).patch(Workspaces, { name: 'noted', namespace }, { metadata: { annotations } })
    const words = 'berth.dev/refresh-variables of annotations can be changed by the owner'
    match(await refusalOf(note(COLLEAGUE, { 'berth.dev/refresh-variables': 'now' })), words)
    for (const user of [OWNER, ADMIN]) await note(user, { 'berth.dev/refresh-variables': user })
    match(await refusalOf(note(COLLEAGUE, { 'berth.dev/refresh-variables': null })), words)
    match(await refusalOf(note(COLLEAGUE, { 'berth.dev/what-comes-later': 'now' })), 'berth.dev/what-comes-later of annotations')
    await note(COLLEAGUE, { 'berth.dev/last-activity': '2030-01-01T00:00:00Z', 'team.example/seen': 'yes' })
  })
  it('is not to whom it belongs: what has an owner that is not there is deleted, and they may only patch it', async () => {
    await create('orphaned')
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' }
    const given = cluster.kube
      .as({ user: COLLEAGUE })
      .patch(Workspaces, { name: 'orphaned', namespace }, { metadata: { ownerReferences: [owner] } })
    match(await refusalOf(given), 'metadata.ownerReferences can be changed by the owner')
  })
  it('is not what the owner has, when they apply the same manifest', async () => {
    await create('same', { ports: [{ name: 'web', port: 8080 }] })
    await change(COLLEAGUE, 'same', { ports: [{ name: 'web', port: 8080 }], desiredState: 'Stopped' })
  })
  it('are names that are not reserved', async () => {
    for (const name of ['berth-x', 'gl-web', 'kas', 'www']) match(await refusalOf(create(name)), `the name ${name} is reserved`)
    await create('glass')
  })
})
