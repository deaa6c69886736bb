import { conditionOf } from './conditions.ts'
import type { GitOpsDeploymentSpec } from './generated/gitops-deployment.ts'
import type { GitOpsDeployment } from './kinds.ts'

type Source = GitOpsDeploymentSpec['source']

/** The URL of the GitProject that it needs: that of the repository, or of where its chart is published. */
export const sourceUrl = ({ repoURL, chart }: Pick<Source, 'repoURL' | 'chart'>): string =>
  repoURL ?? chart?.repository ?? chart?.oci ?? ''

/** The directory there. A published chart is all that there is. */
export const sourcePath = ({ path = '.' }: Pick<Source, 'path'>): string => path

/** A published chart as `NAME@VERSION`, or another version of it: an artifact by its digest. */
export function sourceChart({ chart }: Pick<Source, 'chart'>, revision = chart?.version ?? ''): string | undefined {
  const version = /^[0-9a-f]{64}$/.test(revision) ? `sha256:${revision}` : revision
  return chart && `${chart.name}@${version}`
}

/** Whether what is at a URL is a registry, and no web server or repository of Git. */
export const isInRegistry = (url: string): boolean => url.startsWith('oci://')

/** Where a published chart is, as `spec.source.chart` has it. */
export const chartsAt = (url: string): Pick<NonNullable<Source['chart']>, 'oci' | 'repository'> =>
  isInRegistry(url) ? { oci: url } : { repository: url }

/** Whether what its spec says now is in effect and healthy; `reason` and `message`: why not, `said`: all of it. */
export function inEffect({ metadata, status }: GitOpsDeployment): {
  isReady: boolean
  reason: string
  message: string
  said: string
} {
  const isSeen = status?.observedGeneration === metadata.generation
  const ready = isSeen ? conditionOf(status?.conditions, 'Ready') : undefined
  const { reason = 'Pending', message = 'It has not been looked at yet.' } = ready ?? {}
  return { isReady: ready?.status === 'True', reason, message, said: `${ready?.status} ${reason} ${message}` }
}
