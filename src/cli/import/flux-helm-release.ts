import { posix } from 'node:path'
import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import { cleanPath } from './argo-application.ts'
import type { ForeignFields } from './fields.ts'
import { durationIn } from './flux-git-repository.ts'
import { objectRef } from './flux-kustomization.ts'

type Helm = NonNullable<GitOpsDeploymentSpec['source']['helm']>

/** A chart in a Git repository, and what it is rendered with. */
export interface GitChart {
  path: string
  sourceRef: ForeignFields
  helm: Helm
}

/** The chart of a HelmRelease; nothing where it lies in no Git repository. */
export function chartOf(spec: ForeignFields, releaseName: string): GitChart | undefined {
  const chart = spec.record('chart')?.record('spec')
  const sourceRef = chart?.record('sourceRef')
  const name = chart?.text('chart')
  const helm = { releaseName, ...valuesOf(spec, chart, cleanPath(name ?? '.')), ...crdsOf(spec) }
  const ofReference = spec.record('chartRef')
  ofReference?.pass('kind', 'name', 'namespace')
  if (chart && sourceRef && name !== undefined && sourceRef.text('kind') === 'GitRepository') {
    chart.pass('interval', 'reconcileStrategy', 'version')
    return { path: cleanPath(name), sourceRef, helm }
  }
  chart?.pass('version', 'interval', 'reconcileStrategy', 'verify')
  sourceRef?.pass('kind', 'name', 'namespace', 'apiVersion')
  spec.tell(
    'The chart comes from a registry of charts: commit it to Git, with `helm pull --untar`, and take the release over with `berth adopt helm`.',
    chart ? 'chart' : 'chartRef',
  )
  return undefined
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
  upgrade?.pass('crds')
  // What becomes of a release that fails: Berth tries again, and keeps what is there.
  for (const each of [install, upgrade])
    each?.pass('remediation', 'retries', 'timeout', 'disableWait', 'disableWaitForJobs', 'replace', 'cleanupOnFail', 'strategy')
  return isSkipped ? { skipCrds: true } : {}
}

type Spec = Omit<GitOpsDeploymentSpec, 'source'>

/** What a HelmRelease says beside its chart and its dependencies. */
export function releaseSpecOf(spec: ForeignFields): Spec {
  const interval = durationIn(spec, 'interval')
  const isCreated = spec.record('install')?.flag('createNamespace')
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
