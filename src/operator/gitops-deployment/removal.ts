import { finalizers, type GitOpsDeployment, GitOpsDeployments, hasFinalizer, keyOf, refOf } from '../../api/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import { type Destination, type Entry, entriesOf, removeAll } from '../../engines/gitops/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import { tellChanges, tellLeftBehind } from './events.ts'
import { inventoryOf, ownerOf, type Shop } from './shop.ts'
import { destinationOf } from './targets.ts'

/** How long objects that cannot be deleted hold the deployment. */
const PATIENCE = minutes(2)

/**
 * With the finalizer, the objects go first and are waited for; without it they stay, and so does nothing of ours.
 * Lost credentials never hold a deletion: then the objects are left behind, and an Event says which.
 */
export async function remove(deployment: GitOpsDeployment, shop: Shop, signal: AbortSignal): Promise<Next> {
  shop.following.end(refOf(deployment))
  shop.notes.delete(keyOf(refOf(deployment)))
  if (!hasFinalizer(deployment, finalizers.gitopsDeployment)) return settled()

  const destination = reach(deployment, shop)
  if (destination instanceof Failure) return letGo(deployment, shop, destination.message)

  const owner = ownerOf(deployment)
  const request = { destination, owner, inventory: inventoryOf(deployment, shop) }
  const { entries, held } = await removeAll(request, shop.workshop.clock, signal)
  tellChanges(shop.workshop.events, deployment, 'deleted', entries)
  if (held.length === 0) return letGo(deployment, shop, '')

  const stuck = entriesOf(entries, 'failed')
  if (stuck.length > 0 && isOverdue(deployment, shop)) return letGo(deployment, shop, reasonOf(stuck))
  return again({ after: seconds(1), why: 'objects are being deleted' })
}

function reach(deployment: GitOpsDeployment, { books, workshop: { kube }, targets }: Shop): Destination | Failure {
  try {
    return destinationOf(deployment, books, { kube, targets })
  } catch (thrown) {
    return Failure.from(thrown)
  }
}

const isOverdue = ({ metadata }: GitOpsDeployment, { workshop: { clock } }: Shop): boolean =>
  clock.now() - Date.parse(metadata.deletionTimestamp ?? '') > PATIENCE

const reasonOf = ([first]: Entry[]): string => first?.why ?? ''

async function letGo(deployment: GitOpsDeployment, shop: Shop, why: string): Promise<Next> {
  const { workshop } = shop
  const { metadata } = deployment
  const left = why === '' ? [] : ((await inventoryOf(deployment, shop).load())?.held ?? [])
  tellLeftBehind(workshop.events, deployment, [...left], why)
  const rest = metadata.finalizers?.filter((finalizer) => finalizer !== finalizers.gitopsDeployment) ?? []
  await workshop.kube.patch(GitOpsDeployments, refOf(deployment), {
    metadata: { resourceVersion: metadata.resourceVersion, finalizers: rest },
  })
  return settled()
}
