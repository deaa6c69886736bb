import type { Kube } from '../../../adapters/kube/index.ts'
import {
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  type DeploymentTargetClass,
  isPrivate,
  keyOf,
  Nodes,
  provisionedByOf,
  refOf,
  SANDBOX_PROVISIONER,
} from '../../../api/index.ts'
import { type Clock, isFailure, minutes, remembered } from '../../../std/index.ts'
import { compareTargets, sameArch, shortOf } from './match.ts'
import { type BindingCaches, type News, offeredTargets } from './situation.ts'
import { type BindingVerdict, pending } from './status.ts'

/** Provisioners answer with a target, which may be Pending: who makes a cluster takes longer, but says so before. */
const PATIENCE = minutes(10)
/** Nodes may come at any time, and are not watched for the few claims that ask for an architecture. */
const RECHECK = minutes(1)

/** The claims that asked a provisioner which has said nothing yet, and since when. Another process begins to count anew. */
export type AskedClaims = Map<string, { uid: string | undefined; since: number }>

/** It takes seconds, which is no news. */
export function askedOfBerth(provisioner: string, news: News | undefined): BindingVerdict {
  if (news?.reason === undefined) {
    const message = [`waiting for provisioner ${provisioner}`, ...(news ? [news.message] : [])].join('; ')
    return { ...pending('Provisioning', message), event: news?.isStuck ? 'Warning' : undefined }
  }
  const message = `nothing can be made for it; ${news.message}`
  return pending(news.reason, message, message)
}

/** As long as another provisioner has said nothing there may be none. */
export function askedOfOthers(
  claim: DeploymentTargetClaim,
  found: DeploymentTargetClass,
  news: News | undefined,
  { caches, asked, now }: { caches: BindingCaches; asked: AskedClaims; now: number },
): BindingVerdict {
  const waiting = `waiting for provisioner ${found.spec.provisioner}`
  if (news) return { ...pending('Provisioning', `${waiting}; ${news.message}`), event: news.isStuck ? 'Warning' : 'Normal' }
  const trouble = troubleOfTarget(claim, caches)
  if (trouble) return trouble
  const absent = provisionerAbsent(claim, found, { asked, now })
  if ('phase' in absent) return absent
  const remedy = 'If nobody serves that name, install it, or make a claim of another class: a class cannot be changed'
  return { ...pending('Provisioning', `${waiting}. ${remedy}`), event: 'Normal', ...absent }
}

/** Says, of a claim whose provisioner is not Berth's, that nobody answers, and has not for long. */
function provisionerAbsent(
  claim: DeploymentTargetClaim,
  { spec: { provisioner } }: DeploymentTargetClass,
  { asked, now }: { asked: AskedClaims; now: number },
): BindingVerdict | { recheck: number } {
  const { uid } = claim.metadata
  const key = keyOf(refOf(claim))
  const before = asked.get(key)
  const since = before?.uid === uid ? (before?.since ?? now) : now
  asked.set(key, { uid, since })
  const left = since + PATIENCE - now
  if (left > 0 && conditionOf(claim.status?.conditions, 'Ready')?.reason !== 'ProvisionerAbsent') return { recheck: left }
  const message = `nobody has answered for provisioner ${provisioner} in ${PATIENCE / minutes(1)} minutes. Install or start what serves that name, or make a claim of another class: a class cannot be changed. The claim is bound as soon as a target is there.`
  return pending('ProvisionerAbsent', message, message)
}

/** The trouble of a target that would do for the claim, and that nobody but people can make well: what they wait for is that. */
function troubleOfTarget(claim: DeploymentTargetClaim, caches: BindingCaches): BindingVerdict | undefined {
  const wouldDo = (target: DeploymentTarget) =>
    provisionedByOf(target) === undefined &&
    isPrivate(target) === isPrivate(claim) &&
    sameArch(claim.spec.arch, target.spec.arch) &&
    shortOf(claim, target) === undefined
  const [best] = offeredTargets(caches, claim).filter(wouldDo).toSorted(compareTargets)
  const ready = conditionOf(best?.status?.conditions, 'Ready')
  if (!best || ready?.status !== 'False') return undefined
  const message = `DeploymentTarget ${best.metadata.name} would do, but has ${ready.reason}: ${ready.message}`
  return pending(ready.reason, message, message)
}

/** The architectures of this cluster's nodes; none where there are none yet, or none may be listed. */
export type NodeArchs = () => Promise<string[]>

/** Asked once for all claims that look again within a minute: nodes may be thousands. */
export const createNodeArchs = (kube: Kube, clock: Clock): NodeArchs => {
  const ask = remembered(
    () => archsOf(kube),
    () => '',
    clock,
    { fresh: RECHECK, most: 1 },
  )
  return () => ask(undefined)
}

/** A space in this cluster is on its nodes. */
export async function archMissing(
  { spec: { arch } }: DeploymentTargetClaim,
  { spec: { provisioner } }: DeploymentTargetClass,
  nodeArchs: NodeArchs,
): Promise<BindingVerdict | undefined> {
  const known = arch && provisioner === SANDBOX_PROVISIONER ? await nodeArchs() : []
  if (known.length === 0 || known.some((each) => sameArch(arch, each))) return undefined
  const message = `no node here has arch "${arch}"; there is ${known.join(', ')}. Make a claim that asks for one of these, or for none, or add such a node.`
  return { ...pending('ArchNotAvailable', message, message), recheck: RECHECK }
}

async function archsOf(kube: Kube): Promise<string[]> {
  const found = new Set<string>()
  try {
    for await (const page of kube.pages(Nodes, { metadataOnly: true }))
      for (const { metadata } of page) found.add(metadata.labels?.['kubernetes.io/arch'] ?? '')
  } catch (thrown) {
    // An operator of one namespace may not list them.
    if (!isFailure(thrown, 'forbidden')) throw thrown
    return []
  }
  return [...found].sort()
}
