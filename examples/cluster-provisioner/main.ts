/**
 * A provisioner of its own beside Berth: a claim of its class gets a whole second control plane on this machine.
 * See README.md; the contract is docs/spec/v1/provisioner-contract.md.
 */
import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import { connect, createCaches, createEventRecorder } from '../../src/adapters/kube/index.ts'
import { type ControllerContext, runControllers } from '../../src/engines/controller/index.ts'
import { systemClock as clock, createLog } from '../../src/std/index.ts'
import { createClusters } from './clusters.ts'
import { clusterProvisioning } from './provision.ts'
import { clusterReclaim } from './reclaim.ts'

const { values } = parseArgs({
  options: { kubeconfig: { type: 'string' }, dir: { type: 'string' }, namespace: { type: 'string' } },
})
const dir = values.dir ?? 'clusters'
mkdirSync(dir, { recursive: true })

const stopping = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort())

const log = createLog('info', process.stdout).with({ program: 'cluster-provisioner' })
const report = { line: (text: string) => log.info(text), progress: () => undefined }
const tools = await acquireTools({ env: process.env, report, signal: stopping.signal })
const kube = connect({ kubeconfig: values.kubeconfig, clock })
const caches = createCaches({ kube, clock, log, scope: values.namespace })
const events = createEventRecorder({ kube, clock, log, reporter: 'cluster-provisioner' })
const context: ControllerContext = { kube: caches.kube, caches, events, clock, log }
const clusters = createClusters(dir, tools)

log.info('watching for claims', { server: kube.server, dir })
await runControllers(context, [clusterProvisioning(context, clusters), clusterReclaim(context, clusters)], stopping.signal)
await events.flush()
await caches.stop()
await kube.close()
