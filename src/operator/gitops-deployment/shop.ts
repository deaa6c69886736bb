import type { GitOpsDeployment } from '../../api/index.ts'
import type { Workshop } from '../../engines/controller/index.ts'
import { type InventoryStore, inventoryInConfigMap, type Observed, type Owner, type Render } from '../../engines/gitops/index.ts'
import type { Books } from './books.ts'
import type { Following } from './following.ts'
import type { Targets } from './targets.ts'
import type { VariableReader } from './variables.ts'

export const NAME = 'gitops-deployment'

/** What was seen last of one deployment, so that nothing is read again without need. Lost at a restart, at no harm. */
export interface Note {
  uid: string | undefined
  generation: number | undefined
  commitId: string
  comparedAt: number
  observed: Observed
  /** Reconciles in a row that left something undone. */
  tries: number
}

export interface Shop {
  workshop: Workshop
  books: Books
  following: Following
  targets: Targets
  render: Render
  variables: VariableReader
  notes: Map<string, Note>
}

export const ownerOf = ({ metadata: { uid = '', namespace, name } }: GitOpsDeployment): Owner => ({
  id: uid,
  title: `GitOpsDeployment ${namespace}/${name}`,
})

/** `inventory` of a deployment with the longest name must still be a name. */
export const inventoryName = ({ metadata: { name } }: GitOpsDeployment): string => `${name.slice(0, 240)}.inventory`

export const inventoryOf = (deployment: GitOpsDeployment, { workshop, books }: Shop): InventoryStore =>
  inventoryInConfigMap({
    cache: books.inventories,
    kube: workshop.kube,
    ref: { name: inventoryName(deployment), namespace: deployment.metadata.namespace },
    owner: deployment,
    manager: NAME,
  })
