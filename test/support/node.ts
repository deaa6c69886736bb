import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  acquireNode,
  acquireTools,
  type ControlPlane,
  findNode,
  type Start,
  startControlPlane,
  whyNoNode,
} from '../../src/adapters/control-plane/index.ts'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import { Failure } from '../../src/std/index.ts'

/** Why the tests with a real node are left out; `undefined` where there can be one. */
export async function lacksNode(): Promise<string | undefined> {
  const { env } = process
  if (env.TEST_NODE === 'make' || findNode({ env })) return whyNoNode()
  return 'the programs of a node are not made yet: `npm test -- e2e` makes them, once'
}

export interface NodeCluster extends ControlPlane {
  kube: Kube
  /** Runs kubectl as its administrator, and gives what it prints. */
  kubectl(...parameters: string[]): Promise<string>
}

/** A cluster with a real node, of a test file's own. In a folder that was one before, it has what it had. */
export async function nodeCluster(folder?: string, more: Pick<Start, 'hasEgress'> = {}): Promise<NodeCluster> {
  const { env } = process
  const tools = await acquireTools({ env })
  const dir = folder ?? (await mkdtemp(join(tmpdir(), 'berth-node-')))
  const plane = await startControlPlane({ dir, tools, node: await acquireNode({ env }), ...more })
  const kube = connect({ kubeconfig: plane.kubeconfig })
  const program = tools.paths.kubectl
  if (!program) throw new Failure('internal', 'there is no kubectl')
  const stop = async (end: () => Promise<void>) => {
    await kube.close()
    await end()
  }
  return {
    ...plane,
    kube,
    kubectl: async (...parameters) =>
      (await promisify(execFile)(program, ['--kubeconfig', plane.kubeconfig, ...parameters])).stdout,
    stop: () => stop(plane.stop),
    remove: () => stop(plane.remove),
  }
}
