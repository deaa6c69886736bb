import { type AccessSubject, isAllowed, type Kube } from '../../adapters/kube/index.ts'
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
  const subject = subjectOf(requesterOf(request))
  if (subject.groups.includes(SUPERUSERS)) return
  const tier = { group: SpaceTiers.group, resource: SpaceTiers.plural, name }
  if (await isAllowed(kube, subject, { ...tier, namespace, verb: 'use' })) return
  const who = subject.user === '' ? 'nobody knows who asked for this, and not everybody may' : `${subject.user} may not`
  throw new Failure('forbidden', `${who} use SpaceTier "${name}" in namespace ${namespace}`, {
    reason: 'UnableToProvision',
    remedy: `Name another class or tier, or ask a platform engineer for the verb use on ${tier.resource}.${tier.group}; it goes on by itself then, within two minutes`,
  })
}

/** Of them the API server asks nobody: they may do everything. */
const SUPERUSERS = 'system:masters'

function subjectOf(requester: string): AccessSubject {
  const [user = '', ...groups] = requester.split('\n')
  return { user, groups: groups.length > 0 ? groups : ['system:authenticated'] }
}
