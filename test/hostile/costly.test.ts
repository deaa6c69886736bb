import { match, ok } from 'uvu/assert'
import { ConfigMaps, conditionOf, GitOpsDeployments, GitProjects, isTrue, Workspaces } from '../../src/api/index.ts'
import { createProject } from '../kas/running-kas.ts'
import { comparison, explosion } from '../support/builders/hostile.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { endlessServer, plainServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'
import { bringCluster, filesOf, sourceOf } from './installation.ts'
import { bringNeighbours, mapOf, type Neighbours } from './neighbours.ts'

const TARGETS = 11
/** Objects whose health takes 13,500 steps each; a namespace has half a million at once, and a hundred thousand more a second. */
const RULED = 150
const objectOf = (kind: string, name: string, annotations: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, annotations },
})

const DEVFILE = `schemaVersion: 2.2.0
components: [{ name: main, container: { image: none } }]
`
/** 60 KB, as much as a Workspace may have: nine million steps, and 180 MB of text. */
const STEPPING = `${DEVFILE}commands:
  - { id: a, exec: { component: main, commandLine: 'true' } }
  - { id: all, composite: { commands: [${'a,'.repeat(10_000)}] } }
events: { postStart: [${'all,'.repeat(900)}] }
`
const FILLING = `${DEVFILE}variables: { a: ${'x'.repeat(30_000)} }
commands: [{ id: b, exec: { component: main, commandLine: '${'{{a}}'.repeat(6000)}' } }]
`

const CROWDED = `schemaVersion: 2.2.0
components:
${Array.from({ length: 700 }, (_, n) => `  - { name: c${n}, container: { image: none } }\n`).join('')}commands:
${Array.from({ length: 200 }, (_, n) => `  - { id: a${n}, exec: { component: c${n}, commandLine: 'true' } }\n`).join('')}events: { postStart: [${Array.from({ length: 200 }, (_, n) => `a${n}`).join()}] }
`

/** What would keep a program busy for minutes, or for ever, each at the largest size that is let through. */
describe('hostile: work that has no end', (it) => {
  let beside: Neighbours
  let refusing: StrangeServer
  let flooding: StrangeServer
  it.before(async () => {
    beside = await bringNeighbours()
    flooding = await endlessServer()
    refusing = await plainServer((_, response) =>
      response.writeHead(403, { 'content-type': 'text/plain' }).end('a'.repeat(1_000_000)),
    )
  })
  it.after(async () => {
    await refusing.close()
    await flooding.close()
    await beside.berth.stop()
  })

  it('is not done for a health rule', async () => {
    const { followed, told, live } = beside
    await followed('evil', 'rule', { healthRules: [{ group: '', kind: 'ConfigMap', healthy: explosion }] })
    await told('rule', /spec\.healthRules\[0\]\.healthy: the budget of 20000 steps for one object is used up/)
    await live('beside a health rule')
  })

  it('is not done for rules that cost much of every object, and is done after a while', async () => {
    const { berth, told, live } = beside
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
    const { berth, live } = beside
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
    const { followed, told, live } = beside
    const repository = await followed('evil', 'reference')
    await repository.commit({ 'reference/kustomization.yaml': `resources: ["${'@'.repeat(250_000)}"]` })
    await told('reference', /a reference has 250000 characters, more than 4096/)
    await live('beside a reference')
  })

  it('is not done for variables that do not end', async () => {
    const { berth, followed, live } = beside
    const repository = await followed('evil', 'variables', { variables: { values: { a: 'x' } } })
    const endless = '${a:-'.repeat(150_000)
    await repository.commit({ 'variables/app.yaml': mapOf({ is: 'changed', endless }).replace('"app"', '"endless"') })
    const made = { name: 'endless', namespace: 'evil' }
    await expectObject(berth.kube, ConfigMaps, made, ({ data }) => data?.endless === endless)
    await live('beside variables')
  })

  it('is not done, and no memory taken, for all that objects depend on', async () => {
    const { berth, live, told } = beside
    const before = berth.peakOf('operator')
    const repository = await berth.repository('evil', 'leaning', { 'leaning/a.json': objectOf('Pod', 'a') })
    await berth.follow('evil', 'leaning', { source: sourceOf(repository.url, { path: 'leaning' }) })
    const leaning = (at: number) =>
      objectOf('ConfigMap', `leaning-${at}`, { 'gitops.berth.dev/depends-on': '/Pod//a,'.repeat(95_000) })
    // 60 MiB, which a namespace may follow; each reference takes many times the memory of its text.
    await repository.commit(
      filesOf(Object.fromEntries(Array.from({ length: 84 }, (_, at) => [`leaning/${at}.json`, leaning(at)]))),
    )
    await told('leaning', /at most 100 references in 16384 characters are read/)
    await live('beside what depends on much')
    const grown = berth.peakOf('operator') - before
    ok(grown < 512, `${grown} MiB more`)
  })

  it('is not done, and no memory taken, for a devfile that multiplies what stands in it', async () => {
    const { berth, live } = beside
    for (const [name, inline, words] of [
      ['stepping', STEPPING, /there are 9000000 commands, and at most 1000 are run at one event/],
      ['filling', FILLING, /variables add more than 131072 characters/],
      ['crowded', CROWDED, /700 containers are more than 100/],
    ] as const) {
      await berth.kube.create(Workspaces, workspace('evil', name, { devfile: { inline } }))
      await expectObject(berth.kube, Workspaces, { name, namespace: 'evil' }, ({ status }) => words.test(JSON.stringify(status)))
      await live(`beside ${name}`)
    }
  })

  it('is not done, and no memory taken, for targets whose answers do not end', async () => {
    const { berth, repositoryOf, told, live } = beside
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
    const { berth } = beside
    await expectObject(berth.kube, GitProjects, { name: 'app', namespace: 'team-a' }, ({ status }) =>
      isTrue(status?.conditions, 'Ready'),
    )
  })
})
