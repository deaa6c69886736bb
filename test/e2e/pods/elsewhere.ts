import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, NODE_ADDRESS } from '../../../src/adapters/control-plane/index.ts'
import { type NodeCluster, nodeCluster } from '../../support/node.ts'
import { apply } from '../../support/verbs.ts'
import { lineBetween } from './line.ts'
import type { Site } from './site.ts'

/** A name of kas in the agent's cluster, where nothing is but a line to it. */
export const KAS_THERE = 'kas.line.svc'

/** A name for the line, in the agent's cluster. */
const SERVICE_OF_LINE = `
apiVersion: v1
kind: Namespace
metadata: { name: line }
---
apiVersion: v1
kind: Service
metadata: { name: kas, namespace: line }
spec: { ports: [{ port: 8150 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: kas, namespace: line, labels: { kubernetes.io/service-name: kas } }
addressType: IPv4
ports: [{ port: 8150, name: '' }]
endpoints: [{ addresses: [${NODE_ADDRESS}] }]
`

/** A second cluster, from which an agent comes to kas by a line. */
export interface Elsewhere {
  cluster: NodeCluster
  /** Of kas, for people on this machine. */
  server: string
  /** A file with the authority of kas, once there is an agent. */
  authority: string
  /** Lays the lines to kas: from this cluster, and from this machine. */
  connect(): Promise<void>
  /** Cuts the lines. */
  disconnect(): Promise<void>
  /** Registers the agent `dev` of `team-a`, and starts it here. */
  startAgent(): Promise<void>
  remove(): Promise<void>
}

export async function startElsewhere(site: Site): Promise<Elsewhere> {
  const cluster = await nodeCluster()
  await cluster.importImages(join(site.folder, 'made', 'images.tar'))
  const port = await freePort()
  const authority = join(site.folder, 'kas-ca.crt')
  let lines: { stop(): Promise<void> }[] = []
  const disconnect = async () => {
    for (const line of lines.splice(0)) await line.stop()
  }
  return {
    cluster,
    server: `https://127.0.0.1:${port}`,
    authority,
    async connect() {
      const agents = { enter: cluster.enter, address: `${NODE_ADDRESS}:8150` }
      const people = { enter: [], address: `127.0.0.1:${port}` }
      lines = [
        await lineBetween(agents, await site.serviceAt('kas', 8150), join(site.folder, 'agents.sock')),
        await lineBetween(people, await site.serviceAt('kas', 8154), join(site.folder, 'people.sock')),
      ]
    },
    disconnect,
    async startAgent() {
      await site.berth('agent', 'create', 'dev', '--project', 'team-a/config', '-n', 'team-a')
      await writeFile(authority, await site.authorityIn('kas-tls'))
      const words = ['--kas-address', `grpcs://${KAS_THERE}:8150`, '--kas-ca-file', authority, '--cluster-admin']
      const image = ['--image', `localhost/berth:${site.tag}`]
      await apply(cluster.kube, SERVICE_OF_LINE)
      await apply(cluster.kube, (await site.berth('agent', 'manifest', 'dev', '-n', 'team-a', ...words, ...image)).stdout)
    },
    async remove() {
      await disconnect()
      await cluster.remove()
    },
  }
}
