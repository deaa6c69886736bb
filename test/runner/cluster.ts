import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { acquireTools, startControlPlane } from '../../src/adapters/control-plane/index.ts'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import { Environments } from '../../src/api/index.ts'
import { untilPoliciesHold } from '../../src/cli/local/readiness.ts'
import { Failure, isFailure } from '../../src/std/index.ts'
import { environment, viaCredentials } from '../support/builders/environments.ts'
import { eventually } from '../support/verbs.ts'

export interface SharedCluster {
  /** What test files know of it. */
  env: Record<string, string>
  remove(): Promise<void>
}

/** The cluster of the whole run: the one that TEST_KUBECONFIG names, or a control plane of our own; with Berth's CRDs on it. */
export async function sharedCluster(print: (line: string) => void, signal: AbortSignal): Promise<SharedCluster> {
  const given = process.env.TEST_KUBECONFIG
  const tools = await acquireTools({
    env: process.env,
    report: reportTo(print),
    signal,
    ...(given ? { wanted: ['kubectl'] } : {}),
  })
  const kubectl = tools.paths.kubectl ?? 'kubectl'
  if (given) {
    await install(kubectl, given)
    return { env: { TEST_KUBECONFIG: given }, remove: async () => undefined }
  }
  const plane = await startControlPlane({ dir: await mkdtemp(join(tmpdir(), 'berth-test-')), tools, signal })
  try {
    await install(kubectl, plane.kubeconfig)
  } catch (thrown) {
    await plane.remove()
    throw thrown
  }
  const env = { TEST_KUBECONFIG: plane.kubeconfig, TEST_CLUSTER: 'goes after the run' }
  return { env, remove: () => plane.remove() }
}

/** As a platform engineer does it: the kinds and their rules, then what an installation starts with. Ends when the rules are kept. */
export async function install(kubectl: string, kubeconfig: string): Promise<void> {
  const steps = [
    ['apply', '--server-side', '--force-conflicts', '-k', '.'],
    ['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all'],
    ['apply', '--server-side', '--force-conflicts', '-k', 'deploy/defaults'],
  ]
  for (const step of steps) {
    await promisify(execFile)(kubectl, ['--kubeconfig', kubeconfig, ...step]).catch((thrown: unknown) => {
      throw Failure.from(thrown, `kubectl ${step.join(' ')}`)
    })
  }
  const kube = connect({ kubeconfig })
  await untilPoliciesHold(kubeconfig)
  await eventually(() => refusesPlainUrls(kube))
  await kube.close()
}

/** The API server gathers new policies about once a second, the refusing ones in a turn of their own. */
async function refusesPlainUrls(kube: Kube): Promise<boolean> {
  const plain = environment('default', 'policies', viaCredentials({ apiURL: 'http://plain.example' }))
  const outcome = await kube.create(Environments, plain, { dryRun: true }).catch((thrown: unknown) => thrown)
  return isFailure(outcome, 'invalid')
}

function reportTo(print: (line: string) => void) {
  let tenth = -1
  return {
    line: print,
    progress({ what, done, total }: { what: string; done: number; total: number }) {
      const now = Math.floor((done / total) * 10)
      if (now === tenth) return
      tenth = now
      print(`${what}: ${done} of ${total}`)
    },
  }
}
