import type { GitOpsDeployment } from '../../../api/index.ts'
import type { SyncRequest } from '../../../engines/gitops/index.ts'
import type { Inputs } from './variables.ts'

/** How a chart in the path is rendered: values of the spec win over those that come from elsewhere, and these over files. */
export function chartOf({ metadata, spec }: GitOpsDeployment, { values }: Inputs): NonNullable<SyncRequest['chart']> {
  const { helm } = spec.source
  const { releaseName = metadata.name ?? '', valueFiles = [], skipCrds = false } = helm ?? {}
  const own = helm?.values ? [{ from: 'spec.source.helm.values', text: JSON.stringify(helm.values) }] : []
  return { releaseName, valueFiles, values: [...values, ...own], skipCrds, isExpected: helm !== undefined }
}
