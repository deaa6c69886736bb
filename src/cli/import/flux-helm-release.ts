import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import type { ForeignFields } from './fields.ts'
import { durationIn } from './flux-git-repository.ts'
import { objectRef } from './flux-kustomization.ts'
import { cleanPath, pathIn } from './paths.ts'

type Helm = NonNullable<GitOpsDeploymentSpec['source']['helm']>

/** The chart of a HelmRelease, and what it is rendered with. */
export interface ReleaseChart {
  sourceRef: ForeignFields
  helm: Helm
  /** In its source. */
  path: string
  /** Of one in a repository of charts. */
  published?: { name: string; version?: string } | undefined
}

/** Nothing where no chart is named, which is told. */
export function chartOf(spec: ForeignFields, releaseName: string): ReleaseChart | undefined {
  const chart = spec.record('chart')?.record('spec')
  const sourceRef = chart?.record('sourceRef') ?? spec.record('chartRef')
  if (!sourceRef) {
    spec.pass('chart', 'values', 'valuesFrom', 'install', 'upgrade')
    spec.tell('There is no chart.')
    return undefined
  }
  const kind = sourceRef.text('kind')
  const published = chart && kind === 'HelmRepository' ? publishedIn(chart) : undefined
  const path = chart && kind === 'GitRepository' ? pathIn(chart, 'chart') : '.'
  chart?.pass('chart', 'interval', 'reconcileStrategy', 'version')
  if (chart?.has('verify')) chart.tell('Signatures of charts are not verified.', 'verify')
  spec.tell('Hooks of the chart run with its first sync here, those of an installation, too.', chart ? 'chart' : 'chartRef')
  const helm = { releaseName: shortName(releaseName), ...valuesOf(spec, chart, path ?? '.'), ...crdsOf(spec) }
  return path === undefined ? undefined : { path, sourceRef, helm, published }
}

/** `*` is the latest, which Berth says by leaving it out. */
function publishedIn(chart: ForeignFields): { name: string; version?: string } {
  const [name = '', version = '*'] = [chart.text('chart'), chart.text('version')]
  return { name, ...(version !== '*' && { version }) }
}

/** As Flux has it: https://fluxcd.io/flux/components/helm/helmreleases/#release-name */
function shortName(name: string): string {
  if (name.length <= 53) return name
  return `${name.slice(0, 40)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}

/** The root of the repository is the one of these files in Flux, and the chart's directory is it here. */
function valuesOf(spec: ForeignFields, chart: ForeignFields | undefined, path: string): Helm {
  const files = chart?.texts('valuesFiles') ?? []
  if (files.length > 0 && !files.some((file) => cleanPath(file) === cleanPath(`${path}/values.yaml`)))
    chart?.tell('The values.yaml of the chart counts here in any case, below these.', 'valuesFiles')
  if (chart?.flag('ignoreMissingValuesFiles'))
    chart.tell('A file that is missing refuses the commit here.', 'ignoreMissingValuesFiles')
  const values = spec.value('values')
  const valuesFrom = spec.records('valuesFrom').flatMap((from) => {
    const [valuesKey, targetPath] = [from.text('valuesKey'), from.text('targetPath')]
    const [ref] = objectRef(from)
    if (targetPath !== undefined) {
      from.tell('One value out of an object has no match: put a mapping in YAML there.', 'targetPath')
      return []
    }
    return ref ? [{ ...ref, ...(valuesKey !== undefined && { valuesKey }) }] : []
  })
  return {
    ...(files.length > 0 && { valueFiles: files.map((file) => posix.relative(posix.join('/', path), posix.join('/', file))) }),
    ...(valuesFrom.length > 0 && { valuesFrom }),
    ...(isRecord(values) && Object.keys(values).length > 0 && { values }),
  }
}

function crdsOf(spec: ForeignFields): Helm {
  const [install, upgrade] = [spec.record('install'), spec.record('upgrade')]
  const isSkipped = install?.text('crds') === 'Skip' || (install?.flag('skipCRDs') ?? false)
  if (upgrade?.value('remediation') !== undefined)
    upgrade.tell('Berth goes back by itself to no release before: it tries again, and `berth rollback` goes back.', 'remediation')
  if (!isSkipped && upgrade?.text('crds') !== 'CreateReplace')
    spec.tell('The definitions in `crds` of the chart are updated here, too; `skipCrds: true` leaves them out.', 'upgrade')
  // Berth tries again and waits by itself.
  for (const each of [install, upgrade])
    each?.pass('remediation', 'retries', 'timeout', 'disableWait', 'disableWaitForJobs', 'replace', 'cleanupOnFail', 'strategy')
  return isSkipped ? { skipCrds: true } : {}
}

type Spec = Omit<GitOpsDeploymentSpec, 'source'>

/** What a HelmRelease says beside its chart and its dependencies. */
export function releaseSpecOf(spec: ForeignFields): Spec {
  const interval = durationIn(spec, 'interval')
  const isCreated = spec.record('install')?.flag('createNamespace')
  if (spec.record('test')?.flag('enable')) spec.tell('Tests of a chart are not run.', 'test')
  spec.pass('timeout', 'maxHistory', 'rollback', 'uninstall', 'test', 'persistentClient')
  return {
    type: 'automated',
    ...(interval !== undefined && { interval }),
    ...(isCreated && { syncPolicy: { syncOptions: ['CreateNamespace=true' as const] } }),
    deletionPolicy: 'Delete',
    ...driftOf(spec),
  }
}

/** Flux looks away from drift, unless it is asked to. */
function driftOf(spec: ForeignFields): Pick<Spec, 'drift' | 'ignore'> {
  const detection = spec.record('driftDetection')
  const isRepaired = detection?.text('mode') === 'enabled'
  const ignore = (detection?.records('ignore') ?? []).flatMap((rule) => {
    const target = rule.record('target')
    const [group, kind, name, namespace, labelSelector] = ['group', 'kind', 'name', 'namespace', 'labelSelector'].map((field) =>
      target?.text(field),
    )
    const paths = rule.texts('paths')
    const named = Object.entries({ group, kind, name, namespace, labelSelector }).filter(([, value]) => value !== undefined)
    return paths.length > 0 ? [{ paths, ...(named.length > 0 && { target: Object.fromEntries(named) }) }] : []
  })
  return { ...(!isRepaired && { drift: 'Detect' as const }), ...(ignore.length > 0 && { ignore }) }
}
