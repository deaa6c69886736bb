import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kubeconfigWith, MOST_UPTIME } from '../../adapters/control-plane/index.ts'
import { connect, requestToken } from '../../adapters/kube/index.ts'
import { BERTH_NAMESPACE } from '../../api/index.ts'

/**
 * Kubeconfigs with which kas and the operator run by their shipped service accounts, so that what they may not do in a cluster fails here
 * too. `admin`: that of a control plane of our own, in whose folder they are written.
 */
export async function accountKubeconfigs(dir: string, admin: string): Promise<Record<'kas' | 'operator', string>> {
  const kube = connect({ kubeconfig: admin })
  const write = async (program: 'kas' | 'operator'): Promise<string> => {
    const token = await requestToken(
      kube,
      { namespace: BERTH_NAMESPACE, name: `berth-${program}` },
      { seconds: MOST_UPTIME / 1000 },
    )
    const file = join(dir, `${program}.kubeconfig`)
    writeFileSync(file, kubeconfigWith(readFileSync(admin, 'utf8'), token), { mode: 0o600 })
    return file
  }
  try {
    return { kas: await write('kas'), operator: await write('operator') }
  } finally {
    await kube.close()
  }
}
