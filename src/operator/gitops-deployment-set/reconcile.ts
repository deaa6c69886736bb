import { createHash } from 'node:crypto'
import type { Cache } from '../../adapters/kube/index.ts'
import {
  annotations,
  type Environment,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  GitOpsDeployments,
  type Index,
  isDeleting,
  type Kind,
  keyOf,
  labels,
  refOf,
} from '../../api/index.ts'
import { differences } from '../../engines/apply/index.ts'
import { again, type ControllerContext, type Next, settled } from '../../engines/controller/index.ts'
import { eachOf, Failure, isFailure, sayFailure, seconds } from '../../std/index.ts'
import { desiredOf, type WantedDeployment } from './desired.ts'
import { type Element, elementsOf } from './elements.ts'
import { inEffect } from './in-effect.ts'
import { holdOf, type Member, type Plan, planOf } from './plan.ts'
import { statusOf, tell, type Unready } from './status.ts'

/** What is remembered of a set, so that a look costs little. */
export interface SetMemory {
  version: string
  desired: ReadonlyMap<string, WantedDeployment>
  /** Those that were found as they should be, and in which version. */
  readonly verified: Map<string, string>
}

export interface SetServices {
  context: ControllerContext
  deployments: Cache<GitOpsDeployment>
  environments: Cache<Environment>
  bySet: Index<GitOpsDeployment>
  memories: Map<string, SetMemory>
}

/** Requests at once, for one set. */
const WRITES = 16

/** After one was not accepted. */
const AGAIN = seconds(30)

/** One set: what is to be, what is there, what of it may be done now; then it is done, and told. */
export async function reconcileSet(set: GitOpsDeploymentSet, services: SetServices, signal: AbortSignal): Promise<Next> {
  // Who owns them are removed with it by the API server.
  if (isDeleting(set)) return settled()
  const { deployments, bySet } = services
  const desired = await rememberedDesired(set, services)
  const there = new Map(deployments.by(bySet, keyOf(refOf(set))).map((one) => [one.metadata.name, one]))
  const members = [...desired].map(([name, wanted]) =>
    memberOf(name, wanted, there.get(name), services.memories.get(keyOf(refOf(set)))),
  )
  const plan = planOf(members, set.spec.rollout)
  const leaving = [...there.values()].filter((one) => !desired.has(one.metadata.name) && isMade(one) && !isDeleting(one))
  const hold = holdOf(
    leaving.length,
    leaving.length + members.filter(({ name }) => there.has(name)).length,
    set.spec.removal ?? {},
  )
  const told = { members, plan, leaving: leaving.length, hold, there }
  if (set.spec.suspend) return settled({ status: statusOf(set, { ...told, refused: [] }) })
  const refused = await write(plan, desired, there, { set, services, signal })
  if (hold === undefined)
    await eachOf(leaving, WRITES, async (one) => {
      if (!signal.aborted) await remove(one, set, services)
    })
  const status = statusOf(set, { ...told, refused })
  tell(set, status, services.context.events)
  if (refused.length > 0) return again({ after: AGAIN, why: 'a GitOpsDeployment was not accepted', status })
  return settled({ status })
}

/** As long as the spec and the elements are the same. */
async function rememberedDesired(
  set: GitOpsDeploymentSet,
  { environments, memories }: SetServices,
): Promise<ReadonlyMap<string, WantedDeployment>> {
  const { uid, generation, namespace = '' } = set.metadata
  const elements = elementsOf(
    set.spec,
    environments.in(namespace).filter((one) => !isDeleting(one)),
  )
  const version = JSON.stringify([uid, generation, digestOf(elements)])
  const known = memories.get(keyOf(refOf(set)))
  if (known?.version === version) return known.desired
  const desired = await desiredOf(set, elements)
  memories.set(keyOf(refOf(set)), { version, desired, verified: new Map() })
  return desired
}

function digestOf(elements: readonly Element[]): string {
  const hash = createHash('sha256')
  for (const { values } of elements) hash.update(JSON.stringify([...values]))
  return hash.digest('base64')
}

function memberOf(
  name: string,
  wanted: WantedDeployment,
  live: GitOpsDeployment | undefined,
  memory: SetMemory | undefined,
): Member {
  const isUpdated = live !== undefined && !isDeleting(live) && isAsWanted(wanted, live, memory)
  return { name, labels: wanted.labels, isUpdated, isReady: live !== undefined && inEffect(live).isReady }
}

/** All that the template says is there. What it does not speak of may be whatever somebody likes. */
function isAsWanted(wanted: WantedDeployment, live: GitOpsDeployment, memory: SetMemory | undefined): boolean {
  const { name, uid, generation, labels: marks, annotations: notes, ownerReferences } = live.metadata
  if (notes?.[annotations.setTemplate] !== wanted.digest) return false
  const version = JSON.stringify([uid, generation, marks, notes, ownerReferences])
  if (memory?.verified.get(name) === version) return true
  const isSame = differences(wanted.object(), live).length === 0
  if (isSame) memory?.verified.set(name, version)
  return isSame
}

/** Made for a set, and not only labelled by somebody as if it were. */
const isMade = ({ metadata }: GitOpsDeployment): boolean => metadata.annotations?.[annotations.setTemplate] !== undefined

/** Whether the spec of one is as it has to be the API server says. */
const AS_WRITTEN: Kind = GitOpsDeployments

interface Writing {
  set: GitOpsDeploymentSet
  services: SetServices
  signal: AbortSignal
}

/** Gives those that were not accepted. One of them does not keep the others away. */
async function write(
  { write: names }: Plan,
  desired: ReadonlyMap<string, WantedDeployment>,
  there: ReadonlyMap<string, GitOpsDeployment>,
  { set, services: { context, deployments }, signal }: Writing,
): Promise<Unready[]> {
  const refused: Unready[] = []
  await eachOf(names, WRITES, async (name) => {
    if (signal.aborted) return
    const object = desired.get(name)?.object()
    const live = there.get(name)
    if (!object || (live && isDeleting(live))) return
    try {
      const other = live ? undefined : deployments.get({ name, namespace: set.metadata.namespace })
      if (other) throw taken(name)
      // One that is not in our sight is made, and not taken from whoever has it.
      await context.kube.apply(AS_WRITTEN, object, { manager: 'gitops-deployment-set', force: live !== undefined })
    } catch (thrown) {
      if (!isFailure(thrown, 'invalid', 'conflict', 'already-exists')) throw thrown
      const failure = isFailure(thrown, 'conflict') ? taken(name) : thrown
      refused.push({ name, reason: failure.reason ?? 'Invalid', message: sayFailure(failure) })
    }
  })
  return refused.sort((one, other) => (one.name < other.name ? -1 : 1))
}

const taken = (name: string): Failure =>
  new Failure('invalid', `GitOpsDeployment ${name} is there, but not this set's`, {
    reason: 'NameOccupied',
    remedy: `Give the template another name, or give that one to the set by the label ${labels.deploymentSet}.`,
  })

async function remove(one: GitOpsDeployment, set: GitOpsDeploymentSet, { context: { kube } }: SetServices): Promise<void> {
  if (set.spec.removal?.policy !== 'Orphan') {
    await kube.delete(GitOpsDeployments, refOf(one), { uid: one.metadata.uid })
    return
  }
  const metadata = {
    uid: one.metadata.uid,
    labels: { [labels.deploymentSet]: null },
    annotations: { [annotations.setTemplate]: null },
    ownerReferences: (one.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata.uid),
  }
  await kube.patch(GitOpsDeployments, refOf(one), { metadata }, { manager: 'gitops-deployment-set' })
}
