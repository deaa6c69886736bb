import { type KubeObject, labels, MANAGED_BY_BERTH, type Workspace } from '../../../api/index.ts'
import { hasPods, isOurs, readManifests } from '../../../engines/devfiles/index.ts'
import { isRecord } from '../../../std/index.ts'
import type { WorkspacePlan } from './plan.ts'

/** As they are applied: in the workspace's namespace, with its mark. That of its pods would make them parts of it. */
export function manifestsOf({ workspace, devfile, namespace }: Omit<WorkspacePlan, 'variables'>): KubeObject[] {
  return readManifests(devfile).objects.map(({ component, object }) => {
    const marks = { ...selectorOfManifests(workspace), [labels.workspaceComponent]: component }
    const { metadata, ...rest } = withMarkedPods(object, marks)
    return {
      ...rest,
      metadata: {
        ...metadata,
        namespace: metadata.namespace ?? namespace,
        labels: {
          ...metadata.labels,
          [labels.managedBy]: MANAGED_BY_BERTH,
          [labels.workspace]: workspace.metadata.name,
          ...selectorOfManifests(workspace),
        },
      },
    }
  })
}

/** Labels that the devfile's objects and their pods have in common. */
export const selectorOfManifests = ({ metadata }: Workspace): Record<string, string> => ({
  [labels.workspaceManifest]: metadata.uid ?? '',
})

/** Its pods can be found by their component, and nobody takes them for pods of the workspace itself. */
function withMarkedPods(object: KubeObject, marks: Record<string, string>): KubeObject {
  if (!hasPods(object)) return object
  if (object.kind === 'Pod')
    return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...marks } } }
  const spec = 'spec' in object && isRecord(object.spec) ? object.spec : {}
  const template = isRecord(spec.template) ? spec.template : {}
  const metadata = isRecord(template.metadata) ? template.metadata : {}
  const own = Object.entries(isRecord(metadata.labels) ? metadata.labels : {}).filter(([key]) => !isOurs(key))
  const pod = { ...template, metadata: { ...metadata, labels: { ...Object.fromEntries(own), ...marks } } }
  return { ...object, ...{ spec: { ...spec, template: pod } } }
}
