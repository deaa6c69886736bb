import {
  Environments,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type Ref,
  refOf,
} from '../../api/index.ts'
import { type Next, settled } from '../../engines/controller/index.ts'
import type { Belongings } from './belongings.ts'
import type { Books } from './books.ts'
import { isMadeFor, ownersOf } from './possession.ts'

/**
 * The Environment is gone. Garbage collection removes what names it with the right group; what the seed's builders
 * left behind names a wrong one, or was restored from a backup, and would stay for ever.
 */
export async function sweepAfter(environment: Ref, { workshop: { kube }, books }: Belongings): Promise<Next> {
  const orphans = books.managed.in(environment.namespace ?? '').filter((managed) => isMadeFor(managed, environment))
  if (orphans.length === 0) return settled()
  // The cache may lag behind a new Environment of this name.
  if (await kube.get(Environments, environment)) return settled()
  for (const orphan of orphans) {
    await kube.delete(GitOpsDeploymentManagedEnvironments, refOf(orphan), { uid: orphan.metadata.uid })
  }
  return settled()
}

/** Environments that do not exist, but something says it belongs to them: found once, at the start. */
export const vanishedOwners = ({ managed, environments }: Books): Ref[] =>
  [...managed.all()].flatMap((object: GitOpsDeploymentManagedEnvironment) =>
    ownersOf(object).filter((owner) => !environments.get(owner)),
  )
