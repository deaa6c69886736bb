import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secrets } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { apply } from '../support/verbs.ts'

const FOLDER = join(import.meta.dirname, '../../deploy/certificates')

/** Namespaces in which the account and the role of `deploy/certificates` are as they are shipped. */
export function certificateStage() {
  const cluster = testCluster()
  const { kube } = cluster
  const texts = async (namespace: string, name: string): Promise<Record<string, string>> => {
    const { data = {} } = (await kube.get(Secrets, { namespace, name })) ?? {}
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
  }

  return {
    ...cluster,
    async installed(given?: string) {
      const namespace = given ?? (await cluster.namespace('certificates'))
      for (const file of ['service-account', 'role']) {
        const text = readFileSync(join(FOLDER, `${file}.yaml`), 'utf8')
        await apply(kube, text.replaceAll('namespace: berth-system', `namespace: ${namespace}`))
      }
      return namespace
    },
    /** What is in a Secret, by its keys. */
    texts,
    certificate: async (namespace: string, name: string) => new X509Certificate((await texts(namespace, name))['tls.crt'] ?? ''),
    /** As somebody else does, who replaces it. */
    async put(namespace: string, name: string, stringData: Record<string, string>) {
      await kube.delete(Secrets, { namespace, name })
      await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData } as never)
    },
  }
}
