import { connect, type Kube, selectorFor } from '../../adapters/kube/index.ts'
import { BERTH_NAMESPACE, Deployments, keyOf, type Lease, Leases, PART_OF_BERTH, refOf } from '../../api/index.ts'
import { Failure, seconds, systemClock } from '../../std/index.ts'

/** The Lease of the operator that acts. */
const leaseOfOperator = (namespace: string) => ({ name: 'berth-operator', namespace })

/** Lease times are written by another machine's clock. */
const SKEW = seconds(15)
const LASTS = 15

export interface Leader {
  holder: string
  /** The milliseconds since it was heard of. */
  age: number
  /** It has not lost its Lease, as far as clocks agree. */
  isFresh: boolean
}

/** Who has the Lease; nothing where it was given up. */
function leaderIn({ spec }: Lease, now: number): Leader | undefined {
  if (!spec?.holderIdentity) return undefined
  const age = now - Date.parse(spec.renewTime ?? '')
  return { holder: spec.holderIdentity, age, isFresh: age < (spec.leaseDurationSeconds ?? LASTS) * 1000 + SKEW }
}

/** The operator that leads, or why nobody does; `isSilent`: somebody has the Lease, and does not renew it. */
export async function findLeader(
  kube: Kube,
  namespace: string,
  now: number,
): Promise<{ leader: Leader } | { why: string; isSilent: boolean }> {
  const lease = await kube.get(Leases, leaseOfOperator(namespace))
  if (!lease?.spec)
    return { why: `no operator has ever led in ${namespace}: there is no Lease ${namespace}/berth-operator`, isSilent: false }
  const leader = leaderIn(lease, now)
  if (!leader) return { why: 'nobody leads: the last operator gave up its Lease', isSilent: false }
  if (leader.isFresh) return { leader }
  return { why: `${leader.holder} holds the Lease, and has not renewed it for ${secondsSince(leader)} s`, isSilent: true }
}

/** An operator that leads from outside of the cluster, or did so a moment ago. */
export async function outsideLeader(kube: Kube, namespace: string): Promise<Leader | undefined> {
  if (await kube.get(Deployments, { name: 'operator', namespace })) return undefined
  const lead = await findLeader(kube, namespace, systemClock.now())
  return 'leader' in lead ? lead.leader : undefined
}

/** Clocks differ. */
export const secondsSince = ({ age }: Leader): number => Math.max(0, Math.round(age / 1000))

export const sayLeader = (leader: Leader): string =>
  `${leader.holder} has the Lease of the operator, and renewed it ${secondsSince(leader)} s ago`

/** Of two operators one waits, but two kas would both fetch and report, and each would send people to itself. */
export async function assertAlone(kubeconfig: string): Promise<void> {
  const kube = connect({ kubeconfig })
  try {
    const deployments = await kube.list(Deployments, { labels: selectorFor(PART_OF_BERTH) })
    const installed = deployments.find(({ metadata, spec }) => PROGRAMS.includes(metadata.name) && spec?.replicas !== 0)
    if (installed)
      throw new Failure(
        'invalid',
        `Berth is installed in the cluster at ${kube.server}: Deployment ${keyOf(refOf(installed))} is there`,
        {
          remedy: `Use it as it is; or name another cluster, or remove it first with \`berth uninstall --kubeconfig ${kubeconfig}\`.`,
        },
      )
    const leader = await outsideLeader(kube, BERTH_NAMESPACE)
    if (!leader) return
    throw new Failure('invalid', `Berth runs for the cluster at ${kube.server} already: ${sayLeader(leader)}`, {
      remedy:
        'End it where it was started (`berth down`), or name another cluster. If it has ended just now, do it again in 30 s.',
    })
  } finally {
    await kube.close()
  }
}

const PROGRAMS = ['operator', 'kas']
