import { gunzipSync } from 'node:zlib'
import type { Kube } from '../../adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, type CoreSecret, type Ref, refOf, Secrets } from '../../api/index.ts'
import { Failure, isFailure, isRecord } from '../../std/index.ts'

/** What Helm has written down of a release, of its last revision. */
export interface HelmRelease {
  name: string
  revision: number
  /** `shop-1.2.3` */
  chart: string
  chartVersion: string
  /** What people gave, beside the values of the chart. */
  values: Record<string, unknown>
  /** All that it has installed, as YAML. */
  manifest: string
}

/** Where Helm keeps a revision each. */
interface Records {
  kind: typeof Secrets | typeof ConfigMaps
  refs: Ref[]
}

export interface FoundRelease {
  release: HelmRelease
  records: Records
}

/** Bytes of a record that is unpacked: a Secret has a MiB of it packed. */
const MOST = 64 * 2 ** 20

/** The release of that name in the namespace. Helm keeps it in Secrets, or in ConfigMaps where HELM_DRIVER says so. */
export async function findRelease(kube: Kube, { name = '', namespace = '' }: Ref): Promise<FoundRelease> {
  const labels = `owner=helm,name=${name}`
  const secrets = await kube.list(Secrets, { namespace, labels })
  const [kind, records] =
    secrets.length > 0
      ? ([Secrets, secrets] as const)
      : ([ConfigMaps, await kube.list(ConfigMaps, { namespace, labels })] as const)
  const revisions = records.map(revisionOf).toSorted((a, b) => a.revision - b.revision)
  const last = revisions.at(-1)
  if (!last) throw await noRelease(kube, name, namespace)
  if (last.status !== 'deployed')
    throw new Failure('conflict', `revision ${last.revision} of the Helm release ${name} is ${last.status}, and not deployed.`, {
      remedy: 'Let Helm end what it has begun, or go back with `helm rollback`, and then try again.',
    })
  return { release: releaseIn(last), records: { kind, refs: revisions.map(({ record }) => refOf(record)) } }
}

/** Takes the notes away by which Helm would know the release. Nothing of what it has installed is touched. */
export async function forgetRelease(kube: Kube, { kind, refs }: Records): Promise<void> {
  for (const ref of refs) await kube.delete(kind, ref)
}

type StoredRecord = CoreSecret | ConfigMap

interface Revision {
  record: StoredRecord
  revision: number
  status: string
}

const revisionOf = (record: StoredRecord): Revision => {
  const { version = '', status = '' } = record.metadata.labels ?? {}
  return { record, revision: Number(version), status }
}

function releaseIn({ record, revision }: Revision): HelmRelease {
  const found = contentOf(record)
  const chart = isRecord(found.chart) && isRecord(found.chart.metadata) ? found.chart.metadata : {}
  return {
    name: String(found.name),
    revision,
    chart: `${chart.name}-${chart.version}`,
    chartVersion: String(chart.version),
    values: isRecord(found.config) ? found.config : {},
    manifest: typeof found.manifest === 'string' ? found.manifest : '',
  }
}

/** As Helm packs it: JSON, by gzip, in base64; and a Secret has all of it in base64 once more. */
function contentOf(record: StoredRecord): Record<string, unknown> {
  const text = record.data?.release ?? ''
  const written = record.kind === 'Secret' ? Buffer.from(text, 'base64').toString('utf8') : text
  try {
    const content: unknown = JSON.parse(gunzipSync(Buffer.from(written, 'base64'), { maxOutputLength: MOST }).toString('utf8'))
    if (isRecord(content)) return content
  } catch {
    // What is wrong with bytes of Helm's helps nobody.
  }
  throw new Failure('invalid', `${record.kind} ${record.metadata.name} holds no release as Helm 3 and 4 write it.`, {
    remedy: 'Look at it with `helm get all`.',
  })
}

async function noRelease(kube: Kube, name: string, namespace: string): Promise<Failure> {
  const known = await kube.list(Secrets, { namespace, labels: 'owner=helm', metadataOnly: true }).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    return []
  })
  const names = [...new Set(known.flatMap(({ metadata }) => metadata.labels?.name ?? []))].sort()
  return new Failure('not-found', `there is no Helm release ${name} in namespace ${namespace}.`, {
    remedy:
      names.length > 0 ? `There is ${names.slice(0, 8).join(', ')}.` : 'Name its namespace with -n; `helm list -A` shows all.',
  })
}
