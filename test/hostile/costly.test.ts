import { match, ok } from 'uvu/assert'
import {
  ConfigMaps,
  conditionOf,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  GitProjects,
  isTrue,
  Secrets,
} from '../../src/api/index.ts'
import { createProject } from '../kas/running-kas.ts'
import { managedEnvironment, managedSecret } from '../support/builders/environments.ts'
import { comparison, explosion } from '../support/builders/hostile.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { endlessServer, plainServer, type StrangeServer } from '../support/builders/strange-server.ts'
import type { TestRepository } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'
import { bringCluster, bringUp, type Installation, sourceOf } from './installation.ts'

const map = (data: Record<string, string>) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data })

const TARGETS = 11
/** Objects whose health takes 13,500 steps each; a namespace has half a million at once, and a hundred thousand more a second. */
const RULED = 150
/** Secrets, 280 MB as they are sent. */
const LARGE = 300
/** Repositories of a few kilobytes, each of which lists ten million folders in 20 MB. */
const CASCADES = 20
/** And 108 MB. */
const MANY = 900

/** What would keep a program busy for minutes, or for ever, each at the largest size that is let through. */
describe('hostile: work that has no end', (it) => {
  let berth: Installation
  let app: TestRepository
  let refusing: StrangeServer
  let flooding: StrangeServer
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil', 'hoard'])
    flooding = await endlessServer()
    refusing = await plainServer((_, response) =>
      response.writeHead(403, { 'content-type': 'text/plain' }).end('a'.repeat(1_000_000)),
    )
    app = await followed('team-a', 'app', {})
    await live('first')
  })
  it.after(async () => {
    await refusing.close()
    await flooding.close()
    await berth.stop()
  })

  const repositoryOf = (namespace: string, name: string) =>
    berth.repository(namespace, name, { [`${name}/app.yaml`]: map({ is: 'new' }) })
  /** The folder of this name is brought to the namespace. */
  async function followed(namespace: string, name: string, spec: Partial<GitOpsDeployment['spec']>): Promise<TestRepository> {
    const repository = await repositoryOf(namespace, name)
    await berth.follow(namespace, name, { source: sourceOf(repository.url, { path: name }), ...spec })
    return repository
  }
  /** What the other tenant pushes is brought into his namespace. */
  const live = async (is: string) => {
    await app.commit({ 'app/app.yaml': map({ is }) })
    await expectObject(berth.kube, ConfigMaps, { name: 'app', namespace: 'team-a' }, ({ data }) => data?.is === is)
  }
  const told = (name: string, words: RegExp) => berth.told('evil', name, words)

  it('takes no memory for Secrets that are large, or many', async () => {
    const { kube } = berth
    const before = berth.peakOf('operator')
    const secretOf = (name: string, bytes: number) => managedSecret('hoard', name, ''.padEnd(bytes, name))
    for (let at = 0; at < LARGE; at++) await kube.create(Secrets, secretOf(`large-${at}`, 700_000))
    const spec = { apiURL: flooding.url, credentialsSecret: 'large-0', allowInsecureSkipTLSVerify: true }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment('hoard', 'large-0', spec))
    const named = { name: 'large-0', namespace: 'hoard' }
    await expectObject(kube, GitOpsDeploymentManagedEnvironments, named, ({ status }) =>
      JSON.stringify(status?.conditions ?? []).includes('Secret large-0 is not read: '),
    )
    for (let at = 0; at < MANY; at++) await kube.create(Secrets, secretOf(`many-${at}`, 90_000))
    await berth.heard('hoard', 'NamespaceTooLarge')
    await live('beside Secrets')
    const grown = berth.peakOf('operator') - before
    ok(grown < 192, `${grown} MiB more`)
  })

  it('is not done for a health rule', async () => {
    await followed('evil', 'rule', { healthRules: [{ group: '', kind: 'ConfigMap', healthy: explosion }] })
    await told('rule', /spec\.healthRules\[0\]\.healthy: the budget of 20000 steps for one object is used up/)
    await live('beside a health rule')
  })

  it('is not done for rules that cost much of every object, and is done after a while', async () => {
    const data = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key-${at}`, '']))
    const objects = Array.from({ length: RULED }, (_, at) => configMap(`ruled-${at}`, data))
    const { url } = await berth.repository('evil', 'rules', {
      'rules/all.yaml': objects.map((one) => JSON.stringify(one)).join('\n---\n'),
    })
    const healthRules = [{ group: '', kind: 'ConfigMap', healthy: comparison }]
    await berth.follow('evil', 'rules', { source: sourceOf(url, { path: 'rules' }), healthRules })
    await told('rules', /the health rules of the namespace have taken their share of time/)
    await live('beside many rules')
    const named = { name: 'rules', namespace: 'evil' }
    await expectObject(berth.kube, GitOpsDeployments, named, ({ status }) => status?.health?.status === 'Healthy')
  })

  it('is not done for the refusal of a Git server', async () => {
    await createProject(berth.kube, 'evil', 'refusing', { url: `${refusing.url}/x.git` })
    const { status } = await expectObject(
      berth.kube,
      GitProjects,
      { name: 'refusing', namespace: 'evil' },
      (project) => conditionOf(project.status?.conditions, 'Ready')?.reason === 'AuthenticationFailed',
    )
    match(conditionOf(status?.conditions, 'Ready')?.message ?? '', 'the credentials may not read the repository')
    await live('beside a refusal')
  })

  it('is not done for the references of a kustomization', async () => {
    const repository = await followed('evil', 'reference', {})
    await repository.commit({ 'reference/kustomization.yaml': `resources: ["${'@'.repeat(250_000)}"]` })
    await told('reference', /a reference has 250000 characters, more than 4096/)
    await live('beside a reference')
  })

  it('is not done for variables that do not end', async () => {
    const repository = await followed('evil', 'variables', { variables: { values: { a: 'x' } } })
    const endless = '${a:-'.repeat(150_000)
    await repository.commit({ 'variables/app.yaml': map({ is: 'changed', endless }).replace('"app"', '"endless"') })
    const made = { name: 'endless', namespace: 'evil' }
    await expectObject(berth.kube, ConfigMaps, made, ({ data }) => data?.endless === endless)
    await live('beside variables')
  })

  it('takes no memory for a folder that has no end', async () => {
    const repository = await followed('evil', 'crowd', {})
    await repository.crowd(10_000_000)
    await told('crowd', /git took too much memory for it, and was ended/)
    await live('beside a folder')
  })

  it('takes no memory for folders within folders, in however many repositories', async () => {
    const before = berth.peakOf('kas')
    const names = Array.from({ length: CASCADES }, (_, at) => `cascade-${at}`)
    for (const name of names) await (await followed('evil', name, {})).cascade(10_000, 1000)
    for (const name of names) await told(name, /no files/)
    await live('beside folders within folders')
    const long = await followed('evil', 'long', {})
    await long.cascade(100_000, 1000)
    await told('long', /git ls-tree says more than is read/)
    await live('beside a long list')
    const grown = berth.peakOf('kas') - before
    ok(grown < 512, `${grown} MiB more`)
  })

  it('is not done, and no memory taken, for targets whose answers do not end', async () => {
    const { kube } = berth
    const before = berth.peakOf('operator')
    const source = sourceOf((await repositoryOf('evil', 'endless')).url, { path: 'endless' })
    for (const name of Array.from({ length: TARGETS }, (_, at) => `endless-${at}`)) {
      const spec = { apiURL: flooding.url, allowInsecureSkipTLSVerify: true }
      await bringCluster(kube, { name, namespace: 'evil' }, kubeconfigFor(flooding.url), spec)
      await berth.follow('evil', name, { source, destination: { environment: name, namespace: 'evil' } })
    }
    await live('beside targets')
    for (let at = 0; at < TARGETS; at++) await told(`endless-${at}`, /the answer has more than 8388608 bytes/)
    await live('beside many answers')
    const grown = berth.peakOf('operator') - before
    ok(grown < 256, `${grown} MiB more`)
  })

  it('has left all that is whole in good order', async () => {
    await expectObject(berth.kube, GitProjects, { name: 'app', namespace: 'team-a' }, ({ status }) =>
      isTrue(status?.conditions, 'Ready'),
    )
  })
})
