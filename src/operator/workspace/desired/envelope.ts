import { type Kind, type KubeObject, labels, MANAGED_BY_BERTH, typeMetaOf, type Workspace } from '../../../api/index.ts'
import { hostTemplateOf } from './hosts.ts'
import { objectNameOf } from './names.ts'
import type { WorkspacePlan } from './plan.ts'

/** By these the objects are found again, and told from other people's of the same name. */
export const ownLabels = ({ metadata }: Workspace): Record<string, string> => ({
  [labels.managedBy]: MANAGED_BY_BERTH,
  [labels.workspace]: metadata.name,
  [labels.workspaceUid]: metadata.uid ?? '',
})

/** A proxy finds here how the hosts of a workspace are called. */
const HOST_TEMPLATE = 'berth.dev/host-template'

/** An object of the workspace without its content. */
export function envelope(
  { workspace, settings, namespace }: Pick<WorkspacePlan, 'workspace' | 'settings' | 'namespace'>,
  kind: Kind,
  name = objectNameOf(workspace),
): KubeObject {
  const template = hostTemplateOf(workspace, settings)
  const metadata = {
    name,
    namespace,
    labels: { ...settings.labels, ...ownLabels(workspace) },
    annotations: { ...settings.annotations, ...(template && { [HOST_TEMPLATE]: template }) },
  }
  return { ...typeMetaOf(kind), metadata }
}
