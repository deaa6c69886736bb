import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { annotations, labels, type Workspace, Workspaces } from '../../../src/api/index.ts'
import { type RunningProxy, runProxy } from '../../proxy/running-proxy.ts'
import { type SshClient, sshClient } from '../../proxy/ssh-client.ts'
import { trustHost } from '../../proxy/ssh-host.ts'
import { bindUser, signIn, untilMay } from '../../support/builders/credentials.ts'
import type { TestCluster } from '../../support/control-plane.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { type NodeCluster, nodeCluster } from '../../support/node.ts'
import { apply, eventually } from '../../support/verbs.ts'

export const OWNER = 'ada@example.com'

/** A real node, and a proxy with the rights that are shipped, which takes SSH; a client of OpenSSH that knows its key. */
export interface SshSite {
  cluster: NodeCluster
  proxy: RunningProxy
  client: SshClient
  /** What known_hosts says behind the host. */
  hostKey: string
  /** A workspace of `team-a` with a pod, in which `key` lets in; its `web` answers on 127.0.0.1:8080 of the pod. */
  workspace(name: string, sshKeys: string[], more?: { isPrivate?: boolean; image?: string }): Promise<Workspace>
  close(): Promise<void>
}

const meta = (name: string, namespace: string) => ({ name, namespace })

export async function startSshSite(): Promise<SshSite> {
  const cluster = await nodeCluster()
  try {
    return await startOn(cluster)
  } catch (thrown) {
    await cluster.remove()
    throw thrown
  }
}

async function startOn(cluster: NodeCluster): Promise<SshSite> {
  const { kube, kubectl } = cluster
  for (const name of ['berth-system', 'team-a', 'space']) await kubectl('create', 'namespace', name)
  await kubectl('apply', '--server-side', '-k', 'crds')
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s')
  for (const part of ['people', 'proxy']) await kubectl('apply', '--server-side', '-k', `deploy/${part}`)
  await bindUser(kube, 'team-a', OWNER, 'view')
  await bindUser(kube, 'space', OWNER, 'edit')
  await untilMay(kube, 'team-a', OWNER, { group: 'appstudio.redhat.com', resource: 'deploymenttargets', verb: 'get' })
  await untilMay(kube, 'space', OWNER, { resource: 'pods', subresource: 'exec', verb: 'create' })
  await untilMay(kube, 'team-a', 'system:serviceaccount:berth-system:berth-proxy', {
    ...{ group: 'berth.dev', resource: 'workspaces', verb: 'patch' },
  })
  const folder = await mkdtemp(join(tmpdir(), 'berth-ssh-site-'))
  const { kubeconfig: text } = await signIn(kube, meta('berth-proxy', 'berth-system'))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, text)
  const provider = await identityProvider()
  const address = `127.0.0.1:${await freePort()}`
  const proxy = await runProxy({
    cluster: { kubeconfig } as TestCluster, // as: nothing else of it is asked for
    namespace: 'team-a',
    provider,
    homes: new Map(),
    flags: { sshListen: address, sshAddress: address, sshCertificatesFor: '8', homeNamespace: 'berth-system' },
  })
  const client = await sshClient(proxy.addresses.ssh ?? '')
  const hostKey = await trustHost(client, kube, 'berth-system')
  return {
    ...{ cluster, proxy, client, hostKey },
    workspace: (name, sshKeys, more) => makeWorkspace(cluster, name, { sshKeys, ...more }),
    async close() {
      await client.close()
      await proxy.stop()
      await provider.close()
      await cluster.remove()
      await rm(folder, { recursive: true })
    },
  }
}

async function makeWorkspace(
  { kube, kubectl }: NodeCluster,
  name: string,
  { sshKeys, isPrivate = true, image = 'localhost/busybox:1' }: { sshKeys: string[]; isPrivate?: boolean; image?: string },
): Promise<Workspace> {
  const credentials = { apiURL: kube.server, defaultNamespace: 'space', clusterCredentialsSecret: `${name}-credentials` }
  await apply(kube, {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: { ...meta(name, 'team-a'), ...(isPrivate && { annotations: { [annotations.privateTo]: OWNER } }) },
    spec: { deploymentTargetClassName: 'sandbox', kubernetesCredentials: credentials },
  } as Parameters<typeof apply>[1])
  const made = await kube.create(Workspaces, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: meta(name, 'team-a'),
    spec: { owner: OWNER, sshKeys },
  })
  await apply(kube, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta(name, 'space'), labels: { [labels.workspaceUid]: made.metadata.uid ?? '' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'tools',
          image,
          command: ['sh', '-c', 'echo hello > /tmp/index.html; exec busybox httpd -f -p 127.0.0.1:8080 -h /tmp'],
          env: [{ name: 'PROJECT_SOURCE', value: '/tmp' }],
        },
      ],
    },
  } as Parameters<typeof apply>[1])
  await kubectl('wait', '-n', 'space', '--for=condition=Ready', `pod/${name}`, '--timeout=120s')
  const target = { name, namespace: 'space', apiURL: kube.server }
  return kube.patch(Workspaces, meta(name, 'team-a'), { status: { actualState: 'Running', target } }, { subresource: 'status' })
}

/** The proxy has heard of a workspace when a key lets in. */
export const untilLetIn = ({ client }: SshSite, name: string, key = 'key') =>
  eventually(async () => (await client.run('ssh', [`${name}.team-a@berth`, 'true'], { key })).code === 0)
