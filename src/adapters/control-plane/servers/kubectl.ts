import { dirname, join } from 'node:path'
import { run } from './run.ts'

export const callKubectl = (kubectl: string, kubeconfig: string, parameters: string[], input?: string): Promise<string> =>
  // Its cache of discovery belongs to the cluster, not to whoever starts it.
  run(kubectl, ['--kubeconfig', kubeconfig, '--cache-dir', join(dirname(kubeconfig), 'kubectl-cache'), ...parameters], {
    env: {},
    ...(input !== undefined && { input }),
  })

export async function applyAll(kubectl: string, kubeconfig: string, items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await callKubectl(kubectl, kubeconfig, ['apply', '--server-side', '--validate=false', '-f', '-'], input)
}
