import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { Secrets } from '../../src/api/index.ts'
import { parseConfig, start } from '../../src/certificates/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { apply } from '../support/verbs.ts'

const FOLDER = join(import.meta.dirname, '../../deploy/certificates')

/** Namespaces in which the account and the role of `deploy/certificates` are as they are shipped. */
export function certificateStage() {
  const cluster = testCluster()
  const { kube } = cluster
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
    texts: (namespace: string, name: string) => textsOf(kube, { namespace, name }),
    certificate: (namespace: string, name: string) => certificateOf(kube, { namespace, name }),
    /** As somebody else does, who replaces it. */
    async put(namespace: string, name: string, stringData: Record<string, string>) {
      await kube.delete(Secrets, { namespace, name })
      await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData } as never)
    },
  }
}

/** What is in a Secret, by its keys. */
export async function textsOf(kube: Kube, secret: { namespace: string; name: string }): Promise<Record<string, string>> {
  const { data = {} } = (await kube.get(Secrets, secret)) ?? {}
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}

export const certificateOf = async (kube: Kube, secret: { namespace: string; name: string }) =>
  new X509Certificate((await textsOf(kube, secret))['tls.crt'] ?? '')

/** Runs the program while the work goes on, which can ask it how ready it is; gives its log lines. */
export async function keeping(
  flags: Parameters<typeof parseConfig>[0],
  work: (readiness: () => Promise<string>) => Promise<void>,
): Promise<string[]> {
  const stop = new AbortController()
  const lines: string[] = []
  let address = ''
  const up = (given: string) => {
    address = given
  }
  const config = parseConfig({ ...flags, operations: '127.0.0.1:0' }, {})
  const over = start(config, stop.signal, { log: { write: (line) => lines.push(line) }, up })
  try {
    await work(async () => {
      const answer = await fetch(`http://${address}/readyz`)
      return `${answer.status} ${(await answer.text()).trim()}`
    })
  } finally {
    stop.abort()
    await over
  }
  return lines
}
