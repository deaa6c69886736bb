import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CoreSecret, Secrets } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { apply } from '../support/verbs.ts'

const FOLDER = join(import.meta.dirname, '../../deploy/certificates')

/** Namespaces in which `deploy/certificates` is as it is shipped. */
export function certificateStage() {
  const cluster = testCluster()
  const { kube } = cluster
  const textsIn = ({ data = {} }: CoreSecret): Record<string, string> =>
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
  const secret = async (namespace: string, name: string) => (await kube.get(Secrets, { namespace, name })) ?? { data: {} }

  return {
    ...cluster,
    async installed(given?: string) {
      const namespace = given ?? (await cluster.namespace('certificates'))
      for (const file of ['secrets', 'service-account', 'role']) {
        const text = readFileSync(join(FOLDER, `${file}.yaml`), 'utf8')
        await apply(kube, text.replaceAll('namespace: berth-system', `namespace: ${namespace}`))
      }
      return namespace
    },
    /** Its texts by their keys. */
    texts: async (namespace: string, name: string) => textsIn((await secret(namespace, name)) as CoreSecret),
    certificate: async (namespace: string, name: string) =>
      new X509Certificate(textsIn((await secret(namespace, name)) as CoreSecret)['tls.crt'] ?? ''),
    put: (namespace: string, name: string, texts: Record<string, string | null>) =>
      kube.patch(
        Secrets,
        { namespace, name },
        {
          data: Object.fromEntries(
            Object.entries(texts).map(([key, text]) => [key, text && Buffer.from(text).toString('base64')]),
          ),
        },
      ),
  }
}
