import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acquireTools, type ControlPlane, startControlPlane } from '../../src/adapters/control-plane/index.ts'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import { Namespaces } from '../../src/api/index.ts'
import { Failure } from '../../src/std/index.ts'

export interface TestCluster {
  /** As cluster-admin. */
  kube: Kube
  /** The file that says where and who. */
  kubeconfig: string
  /** A fresh namespace with this in its name. */
  namespace(hint?: string): Promise<string>
  /** Hangs up, and removes what `namespace()` made (without waiting for the end of it) where the cluster stays after the run. */
  close(): Promise<void>
}

/** To delete a namespace takes the cluster some ninety requests, which are for nothing where it is about to go itself. */
const goesAfterTheRun = process.env.TEST_CLUSTER === 'goes after the run'

/** The API server that the whole run shares, with Berth's CRDs and policies on it. `test/run.ts` names it. */
export function testCluster(): TestCluster {
  const kubeconfig = process.env.TEST_KUBECONFIG
  if (!kubeconfig) {
    throw new Failure('invalid', 'TEST_KUBECONFIG is not set', {
      remedy: 'Run the file by `npm test <part of its path>`, or name the kubeconfig of a cluster that may be written to.',
    })
  }
  const kube = connect({ kubeconfig })
  const made: string[] = []
  return {
    kube,
    kubeconfig,
    async namespace(hint = 'test') {
      const name = `${hint}-${randomBytes(4).toString('hex')}`
      await kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      made.push(name)
      return name
    },
    async close() {
      if (!goesAfterTheRun) await Promise.all(made.map((name) => kube.delete(Namespaces, { name })))
      await kube.close()
    },
  }
}

export interface OwnControlPlane extends ControlPlane {
  kube: Kube
}

/** A control plane for one test file alone, for tests that stop, freeze or kill its servers. Nothing is installed on it. */
export async function ownControlPlane(start: { nodes?: number } = {}): Promise<OwnControlPlane> {
  const tools = await acquireTools({ env: process.env })
  const plane = await startControlPlane({ ...start, dir: await mkdtemp(join(tmpdir(), 'berth-own-')), tools })
  const kube = connect({ kubeconfig: plane.kubeconfig })
  return {
    ...plane,
    kube,
    async remove() {
      await kube.close()
      await plane.remove()
    },
  }
}
