import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, requestToken } from '../../adapters/kube/index.ts'
import { BERTH_NAMESPACE } from '../../api/index.ts'
import { recordIn } from '../../std/index.ts'

/** Seconds: as long as the programs of a local installation may run at a stretch. */
const LIFETIME = 365 * 24 * 3600

/**
 * A kubeconfig with which a program runs by its shipped service account, so that what it may not do in a cluster fails here too.
 * `admin`: that of a control plane of our own, whose only user it has.
 */
export async function kubeconfigAs(program: 'kas' | 'operator', dir: string, admin: string): Promise<string> {
  const kube = connect({ kubeconfig: admin })
  try {
    const token = await requestToken(kube, { namespace: BERTH_NAMESPACE, name: `berth-${program}` }, { seconds: LIFETIME })
    const file = join(dir, `${program}.kubeconfig`)
    const users = [{ name: 'berth', user: { token: token.reveal() } }]
    writeFileSync(file, JSON.stringify({ ...recordIn(readFileSync(admin, 'utf8')), users }), { mode: 0o600 })
    return file
  } finally {
    await kube.close()
  }
}
