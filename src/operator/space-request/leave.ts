import { type Kube, mayUse } from '../../adapters/kube/index.ts'
import { labels, type Namespace, requesterOf, type SpaceRequest, type SpaceTier, SpaceTiers } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/**
 * The requester of the space may use its tier. It is asked when the namespace is to be made or gets another tier: what is there
 * already stays, as it does in admission. Classes lead here too, with the requester of the claim or workspace (decision 270).
 * Throws a `forbidden` Failure, which is tried again: a role that is bound later wakes nobody.
 */
export async function assertLeave(
  kube: Kube,
  request: SpaceRequest,
  { metadata: { name } }: SpaceTier,
  there: Namespace | undefined,
): Promise<void> {
  if (there?.metadata.labels?.[labels.tier] === name) return
  const { namespace = '' } = request.metadata
  const requester = requesterOf(request)
  if (await mayUse(kube, requester, { kind: SpaceTiers, name, namespace })) return
  const [user] = requester.split('\n')
  const who = user === '' ? 'nobody knows who asked for this, and not everybody may' : `${user} may not`
  throw new Failure('forbidden', `${who} use SpaceTier "${name}" in namespace ${namespace}`, {
    reason: 'UnableToProvision',
    remedy: `Name another class or tier, or ask a platform engineer for the verb use on ${SpaceTiers.plural}.${SpaceTiers.group}; it goes on by itself then, within two minutes`,
  })
}
