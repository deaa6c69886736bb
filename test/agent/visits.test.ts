import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { is, match } from 'uvu/assert'
import { Agents, ConfigMaps } from '../../src/api/index.ts'
import { createAgent, createProject, openToOwnJobs, type RunningKas, runKas } from '../kas/running-kas.ts'
import { selfSigned } from '../support/builders/certificate.ts'
import { developer } from '../support/builders/credentials.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const run = promisify(execFile)

/** The programs as they are: kubectl → kas → tunnel → agent → API server, all of it over TLS. */
describe('the way to the cluster of an agent', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let host: GitHost
  let kas: RunningKas
  let agent: RunningAgent
  let folder = ''
  let namespace = ''
  const file = (name: string) => join(folder, name)

  it.before(async () => {
    namespace = await cluster.namespace('visits')
    folder = await mkdtemp(join(tmpdir(), 'berth-visits-'))
    const { key, cert } = selfSigned('127.0.0.1')
    await writeFile(file('tls.crt'), cert)
    await writeFile(file('tls.key'), key)
    host = await gitHost()
    const config = await host.repository('config')
    await createProject(kube, namespace, 'config', { url: config.url })
    await config.commit({ '.berth/agents/dev/config.yaml': JSON.stringify(openToOwnJobs(namespace)) })
    kas = await runKas({ kubeconfig, namespace, flags: { tlsCert: file('tls.crt'), tlsKey: file('tls.key') } })
    const token = await createAgent(kube, namespace, 'dev')
    agent = await runAgent({ kas: `grpcs://${kas.addresses.listen}`, kubeconfig, namespace, token, caCertFile: file('tls.crt') })
    await expectObject(kube, Agents, { name: 'dev', namespace }, ({ status }) => is(status?.connectedPods?.length, 1))
    const job = await developer(kube, namespace, 'job')
    const server = `https://${kas.addresses.kubernetesApi}/k8s/namespaces/${namespace}/agents/dev`
    await writeFile(
      file('kubeconfig'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'dev', cluster: { server, 'certificate-authority-data': Buffer.from(cert).toString('base64') } }],
        users: [{ name: 'job', user: { token: job.token } }],
        contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'job', namespace } }],
        'current-context': 'dev',
      }),
    )
  })
  it.after(async () => {
    await agent.stop()
    await kas.stop()
    await host.close()
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const ask = async (...words: string[]) => {
    const { stdout } = await run(await kubectl(), ['--kubeconfig', file('kubeconfig'), ...words], { env: { HOME: folder } })
    return stdout
  }

  it('creates and reads with kubectl', async () => {
    await ask('create', 'configmap', 'far', '--from-literal', 'a=ü')
    is((await kube.get(ConfigMaps, { name: 'far', namespace }))?.data?.a, 'ü')
    match(await ask('get', 'configmaps', '-o', 'name'), /configmap\/far/)
  })

  it('ends what is open when the agent is deleted, and lets nobody in any more', async () => {
    const words = ['--kubeconfig', file('kubeconfig'), 'get', 'configmaps', '--watch', '-o', 'name']
    const watching = execFile(await kubectl(), words, { env: { HOME: folder } })
    const ended = once(watching, 'exit')
    let seen = ''
    watching.stdout?.on('data', (text) => {
      seen += text
    })
    await eventually(() => seen.includes('configmap/far'))
    await kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later', namespace } })
    await eventually(() => seen.includes('configmap/later'))
    await kube.delete(Agents, { name: 'dev', namespace })
    await ended
    const refused = await ask('get', 'configmaps').catch((thrown: Error) => thrown.message)
    match(refused, /Forbidden|forbidden|does not exist, or you may not reach it/)
  })
})
