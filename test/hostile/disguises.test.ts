import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is, match, not, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  conditionOf,
  DeploymentTargets,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  Secrets,
} from '../../src/api/index.ts'
import { managedEnvironment, managedSecret } from '../support/builders/environments.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { answeringServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigSecret, target } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

const CANARY = 'read from a file of the operator'
const TOKEN = 'mallorys-own-token'
const base64 = (plain: string) => Buffer.from(plain).toString('base64')

/** A field that would run, read or reach something on the operator's side, and its value in YAML. */
interface Field {
  of: 'user' | 'cluster'
  key: string
  value: string
}
/** One way to write it: what stands in place of the field, and what stands before all the rest. */
type ObjectWriter = (field: Field) => { field: string; before?: string }

/** Each is read by somebody as the field itself. */
const REFUSED: Record<string, { write: ObjectWriter; words: (field: Field) => RegExp }> = {
  bytes: { write: ({ key, value }) => ({ field: `!!binary ${base64(key)}: ${value}` }), words: () => /is not YAML/ },
  'bytes-within': { write: ({ key }) => ({ field: `${key}: !!binary ${base64('x')}` }), words: () => /is not YAML/ },
  twice: { write: ({ key, value }) => ({ field: `${key}: ~, ${key}: ${value}` }), words: () => /is not YAML/ },
  merged: {
    write: ({ key, value }) => ({ field: '<<: *it', before: `x-it: &it { ${key}: ${value} }\n` }),
    words: ({ of, key }) => new RegExp(`${of}\\.${key} is not allowed`),
  },
  'merged-list': {
    write: ({ key, value }) => ({ field: '<<: [{}, *it]', before: `x-it: &it { ${key}: ${value} }\n` }),
    words: ({ of, key }) => new RegExp(`${of}\\.${key} is not allowed`),
  },
  escaped: {
    write: ({ key, value }) => ({ field: `"\\x${key.charCodeAt(0).toString(16)}${key.slice(1)}": ${value}` }),
    words: ({ of, key }) => new RegExp(`${of}\\.${key} is not allowed`),
  },
  tagged: {
    write: ({ key, value }) => ({ field: `!!str ${key}: ${value}` }),
    words: ({ of, key }) => new RegExp(`${of}\\.${key} is not allowed`),
  },
}

/** These are read as nothing at all, so that the cluster is asked with the token alone. */
const IDLE: Record<string, ObjectWriter> = {
  quoted: ({ key, value }) => ({ field: `"<<": { ${key}: ${value} }` }),
  inherited: ({ key, value }) => ({ field: `__proto__: { ${key}: ${value} }` }),
  shouted: ({ key, value }) => ({ field: `${key.toUpperCase()}: ${value}` }),
}

/** Mallory brings clusters by kubeconfigs in which what is refused is written in a way that is not looked for. */
describe('hostile: kubeconfigs in disguise', (it) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-disguises-'))
  const [file, trace] = [join(folder, 'file'), join(folder, 'trace')]
  const touch = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    interactiveMode: 'Never',
    command: 'touch',
    args: [trace],
  })
  const EXEC: Field = { of: 'user', key: 'exec', value: touch }
  let berth: Installation
  let mallory: Kube
  /** Her cluster, and where she would have requests go in its place. */
  let cluster: StrangeServer
  let elsewhere: StrangeServer
  let loot = ''
  let asked = ''
  it.before(async () => {
    writeFileSync(file, CANARY)
    cluster = await answeringServer(({ headers }, response) => {
      asked += `${JSON.stringify(headers)}\n`
      response.writeHead(404).end()
    })
    elsewhere = await answeringServer((_, response) => response.writeHead(404).end())
    berth = await bringUp(['evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    loot = (await berth.repository('evil', 'loot', { 'a.yaml': configMap('taken') })).url
  })
  it.after(async () => {
    await cluster.close()
    await elsewhere.close()
    await berth.stop()
    rmSync(folder, { recursive: true })
  })

  const fields = (): Field[] => [
    EXEC,
    {
      of: 'user',
      key: 'auth-provider',
      value: JSON.stringify({ name: 'gcp', config: { 'cmd-path': 'touch', 'cmd-args': trace } }),
    },
    { of: 'user', key: 'tokenFile', value: JSON.stringify(file) },
    { of: 'user', key: 'client-certificate', value: JSON.stringify(file) },
    { of: 'user', key: 'as', value: '"system:admin"' },
    { of: 'cluster', key: 'proxy-url', value: JSON.stringify(elsewhere.url) },
    { of: 'cluster', key: 'certificate-authority', value: JSON.stringify(file) },
  ]
  const kubeconfig = ({ of }: Field, { field, before = '' }: ReturnType<ObjectWriter>) => `${before}apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "${cluster.url}"${of === 'cluster' ? `, ${field}` : ''} } }]
users: [{ name: u, user: { token: ${TOKEN}${of === 'user' ? `, ${field}` : ''} } }]
contexts: [{ name: d, context: { cluster: c, user: u } }]
current-context: d
`
  const bring = async (name: string, text: string) => {
    await mallory.create(Secrets, managedSecret('evil', name, text))
    const spec = { apiURL: cluster.url, credentialsSecret: name, allowInsecureSkipTLSVerify: true }
    await mallory.create(GitOpsDeploymentManagedEnvironments, managedEnvironment('evil', name, spec))
  }
  const environmentSays = (name: string, words: RegExp) =>
    expectObject(berth.kube, GitOpsDeploymentManagedEnvironments, { name, namespace: 'evil' }, ({ status }) => {
      match(conditionOf(status?.conditions, 'Ready')?.message ?? '', words)
    })
  const nameOf = (writing: string, { key }: Field) => `${writing}-${key}`.toLowerCase()
  const assertNothing = async () => {
    is(existsSync(trace), false)
    is(elsewhere.seen, 0)
    not.match(asked, CANARY)
    not.match(asked, /impersonate/i)
    const hers = [
      await mallory.list(GitOpsDeploymentManagedEnvironments, { namespace: 'evil' }),
      await mallory.list(GitOpsDeployments, { namespace: 'evil' }),
      await mallory.list(DeploymentTargets, { namespace: 'evil' }),
    ]
    not.match(JSON.stringify(hers), CANARY)
  }

  it('are refused before anybody is asked, by bytes, merges and escapes as by plain words, and the environment says why', async () => {
    const all = fields().flatMap((field) => Object.entries(REFUSED).map(([name, how]) => ({ field, name, ...how })))
    for (const { field, name, write } of all) await bring(nameOf(name, field), kubeconfig(field, write(field)))
    for (const { field, name, words } of all) await environmentSays(nameOf(name, field), words(field))
    is(cluster.seen, 0)
    await assertNothing()
  })

  it('bring nothing about either: the deployments that go there say the same', async () => {
    for (const name of Object.keys(REFUSED)) {
      const environment = nameOf(name, EXEC)
      await berth.follow('evil', environment, { source: sourceOf(loot), destination: { environment, namespace: 'evil' } })
    }
    for (const [name, { words }] of Object.entries(REFUSED)) await berth.told('evil', nameOf(name, EXEC), words(EXEC))
    is(cluster.seen, 0)
    await assertNothing()
  })

  it('are refused where they are the credentials of a target, which says why', async () => {
    for (const [name, { write }] of Object.entries(REFUSED)) {
      await mallory.create(Secrets, kubeconfigSecret('evil', kubeconfig(EXEC, write(EXEC)), `target-${name}`))
      const kubernetesCredentials = {
        defaultNamespace: 'evil',
        apiURL: cluster.url,
        clusterCredentialsSecret: `target-${name}`,
        allowInsecureSkipTLSVerify: true,
      }
      await mallory.create(DeploymentTargets, target('evil', name, { kubernetesCredentials }))
    }
    for (const [name, { words }] of Object.entries(REFUSED))
      await expectObject(berth.kube, DeploymentTargets, { name, namespace: 'evil' }, ({ status }) => {
        match(conditionOf(status?.conditions, 'CredentialsValid')?.message ?? '', words(EXEC))
      })
    is(cluster.seen, 0)
    await assertNothing()
  })

  it('have no effect where they are read as something else: the cluster is asked with the token alone', async () => {
    const all = fields().flatMap((field) => Object.entries(IDLE).map(([name, write]) => ({ field, name, write })))
    for (const { field, name, write } of all) await bring(nameOf(name, field), kubeconfig(field, write(field)))
    const another = { of: 'user', key: 'another', value: '' } as const
    const others = `users: [{ name: v, user: { exec: ${touch} } }]\n`
    await bring('another', kubeconfig(another, { field: 'x: y' }).replace('users: [', `${others.trim().slice(0, -1)}, `))
    for (const { field, name } of all) await environmentSays(nameOf(name, field), /answers, but not like a Kubernetes API/)
    await environmentSays('another', /answers, but not like a Kubernetes API/)
    ok(cluster.seen >= all.length)
    match(asked, `Bearer ${TOKEN}`)
    await assertNothing()
  })
})
