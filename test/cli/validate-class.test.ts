import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match } from 'uvu/assert'
import { WorkspaceClasses, Workspaces } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

const LARGE = `schemaVersion: 2.2.0
components:
  - name: tools
    container: { image: i, memoryRequest: 1Gi, memoryLimit: 3Gi }
`

describe('validate, for a class', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  const cwd = mkdtempSync(join(tmpdir(), 'berth-test-'))
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('cli-validate')
    writeFileSync(join(cwd, 'large.yaml'), LARGE)
    writeFileSync(join(cwd, 'small.yaml'), LARGE.replaceAll('3Gi', '1Gi'))
    writeFileSync(join(cwd, 'needy.yaml'), LARGE.replace(', memoryLimit: 3Gi', ''))
    writeFileSync(join(cwd, 'far.yaml'), 'schemaVersion: 2.2.0\nparent: { uri: "https://b.example.com/base.yaml" }\n')
    await classOf(namespace, { maxResourcesPerWorkspace: { requests: { memory: '2Gi' }, limits: { memory: '2Gi' } } })
    await classOf(`${namespace}-closed`, { enabled: false })
    await classOf(`${namespace}-tight`, {
      defaultResourcesPerWorkspaceContainer: { requests: { memory: '128Mi' }, limits: { memory: '512Mi' } },
      devfileHosts: ['a.example.com'],
    })
  })
  it.after(async () => {
    for (const name of [namespace, `${namespace}-closed`, `${namespace}-tight`]) await kube.delete(WorkspaceClasses, { name })
    rmSync(cwd, { recursive: true })
    await cluster.close()
  })
  const classOf = (name: string, spec: object) =>
    kube.create(WorkspaceClasses, { apiVersion: 'berth.dev/v1alpha1', kind: 'WorkspaceClass', metadata: { name }, spec })
  const validate = (file: string, ofClass: string) =>
    berth(['validate', file, '--class', ofClass, '--kubeconfig', kubeconfig], { cwd })

  it('says what the class does not allow, with the line and the amounts', async () => {
    const { code, stdout } = await validate('large.yaml', namespace)
    is(code, 7)
    match(stdout, /^large\.yaml:4:61 +not-made +components\[0\]\.container\.memoryLimit:/m)
    const words = stdout.replace(/\s+/g, ' ')
    match(words, "its containers' memoryLimit is more than the 2Gi that the class allows a workspace (ask for less; tools: 3Gi)")
    is((await validate('small.yaml', namespace)).stdout, `small.yaml is valid for WorkspaceClass ${namespace}.\n`)
  })

  it('says where an amount of the class and one of the devfile cannot both be', async () => {
    const { code, stdout } = await validate('needy.yaml', `${namespace}-tight`)
    is(code, 7)
    match(stdout.replace(/\s+/g, ' '), 'tools would be guaranteed more memory (1Gi) than it may use (512Mi)')
  })

  it('refuses parents of hosts that the class does not list', async () => {
    const { code, stdout } = await validate('far.yaml', `${namespace}-tight`)
    is(code, 7)
    match(stdout.replace(/\s+/g, ' '), 'devfiles of b.example.com are not fetched here (Use one of a.example.com, put it into a')
  })

  it('knows classes that are closed, and those that are not there', async () => {
    const closed = await validate('small.yaml', `${namespace}-closed`)
    is(closed.code, 7)
    match(closed.stderr, `WorkspaceClass ${namespace}-closed takes no new workspaces.`)
    is((await validate('small.yaml', `${namespace}-gone`)).code, 3)
  })

  it('goes on without a class where nobody named one and the cluster does not answer', async () => {
    const nobody = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:9' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      users: [{ name: 'a', user: {} }],
      'current-context': 'a',
    })
    writeFileSync(join(cwd, 'nobody'), nobody)
    const { code, stdout, stderr } = await berth(['validate', 'large.yaml', '--kubeconfig', 'nobody'], { cwd })
    equal([code, stdout], [0, 'large.yaml is valid.\n'])
    match(stderr, 'No WorkspaceClass was asked: ')
  })

  it('is what create does: it makes nothing of a devfile that is refused', async () => {
    const make = (file: string) =>
      berth(['create', 'web', '--devfile', file, '--class', namespace, '-n', namespace, '--kubeconfig', kubeconfig], { cwd })
    const { code, stderr } = await make('large.yaml')
    is(code, 7)
    match(stderr, 'large.yaml, line 4, column 61: components[0].container.memoryLimit: its containers')
    match(stderr, `\`berth validate large.yaml --class ${namespace}\` says it again.`)
    is(await kube.get(Workspaces, { name: 'web', namespace }), undefined)
    is((await make('small.yaml')).code, 0)
  })
})
