import { type Kube, mayUse } from '../../adapters/kube/index.ts'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  Environments,
  GitOpsDeploymentSets,
  type GitProject,
  isDeleting,
  isOwnedBy,
  type Kind,
  type KubeObject,
  keyOf,
  nameOf,
  type Preview,
  refOf,
  requesterOf,
} from '../../api/index.ts'
import { createUnlessThere, differences, isOfOneObject, keepExactly } from '../../engines/apply/index.ts'
import { eachOf, Failure, seconds } from '../../std/index.ts'
import { claimFor, environmentFor, setFor } from './desired.ts'
import type { PreviewEntry } from './plan.ts'
import { MANAGER, type PreviewRefusal, type PreviewServices } from './services.ts'

/** Requests at once, for one Preview. */
const WRITES = 16

/** After one was not accepted. */
export const AGAIN = seconds(30)

/** Makes what is missing of one environment, each for itself: one that is not accepted does not keep the others away. */
export async function writeAll(
  preview: Preview,
  entries: readonly PreviewEntry[],
  services: PreviewServices,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PreviewRefusal>> {
  const refusals = refusalsOf(preview, services)
  const now = services.context.clock.now()
  const names = new Set(entries.map(({ name }) => name))
  for (const [name, { until }] of refusals) if (!names.has(name) || until <= now) refusals.delete(name)
  let use: Promise<void> | undefined
  // Asked once for all that are made in this pass.
  const requireUse = () => {
    use ??= requireUseOf(preview, services.context.kube)
    return use
  }
  await eachOf(entries, WRITES, async (entry) => {
    if (signal.aborted || refusals.has(entry.name)) return
    try {
      await keepClaim(preview, entry, { ...services, requireUse })
      await keepEnvironment(preview, entry, services)
    } catch (thrown) {
      if (!isOfOneObject(thrown)) throw thrown
      // Of a conflict something else brings the end about, and tells.
      const until = thrown.code === 'conflict' ? now : now + AGAIN
      refusals.set(entry.name, { reason: thrown.reason ?? 'Refused', message: thrown.message, until })
    }
  })
  return refusals
}

/** What was not accepted the last time. */
export function refusalsOf(preview: Preview, { refusals }: PreviewServices): Map<string, PreviewRefusal> {
  const key = keyOf(refOf(preview))
  const known = refusals.get(key) ?? new Map<string, PreviewRefusal>()
  refusals.set(key, known)
  return known
}

/** What a claim asks for stays as it was when it was made: its namespace was made for that. */
async function keepClaim(
  preview: Preview,
  entry: PreviewEntry,
  { context, claims, requireUse }: PreviewServices & { requireUse: () => Promise<void> },
): Promise<void> {
  const claim = claims.get({ name: entry.name, namespace: preview.metadata.namespace })
  if (claim) return requireOwn(claim, preview)
  await requireUse()
  await make(DeploymentTargetClaims, claimFor(preview, entry), context.kube)
}

/** Admission has asked when the class was named; it is made long after that, and by us, who may use all. */
async function requireUseOf(preview: Preview, kube: Kube): Promise<void> {
  const { deploymentTargetClassName: name } = preview.spec
  const requester = requesterOf(preview)
  if (await mayUse(kube, requester, { kind: DeploymentTargetClasses, name, namespace: preview.metadata.namespace ?? '' })) return
  const who = requester.split('\n')[0] || 'whoever made the Preview'
  throw new Failure(
    'forbidden',
    `${who} may not use DeploymentTargetClass "${name}" of spec.deploymentTargetClassName any more`,
    {
      reason: 'Forbidden',
    },
  )
}

async function keepEnvironment(preview: Preview, entry: PreviewEntry, { context, environments }: PreviewServices): Promise<void> {
  const environment = environments.get({ name: entry.name, namespace: preview.metadata.namespace })
  const wanted = environmentFor(preview, entry)
  if (!environment) return make(Environments, wanted, context.kube)
  requireOwn(environment, preview)
  if (differences(wanted, environment).length > 0)
    await context.kube.apply(Environments, wanted, { manager: MANAGER, force: true })
}

/** All of its spec is ours: what the template has no more is in effect no more. */
export async function keepSet(preview: Preview, project: GitProject, services: PreviewServices): Promise<void> {
  const { context, sets, canonical } = services
  const wanted = setFor(preview, project)
  const set = sets.get(refOf(wanted))
  if (!set) return make(GitOpsDeploymentSets, wanted, context.kube)
  requireOwn(set, preview)
  await keepExactly({ kube: context.kube, canonical, manager: MANAGER }, { kind: GitOpsDeploymentSets, object: wanted }, set)
}

/** It is never taken from whoever has it. */
async function make<T extends KubeObject>(kind: Kind<T>, object: T, kube: Kube): Promise<void> {
  if (!(await createUnlessThere(kube, kind, object, MANAGER))) throw occupied(object)
}

function requireOwn(object: KubeObject, preview: Preview): void {
  if (!isOwnedBy(object, preview)) throw occupied(object)
  if (isDeleting(object))
    throw new Failure('conflict', `${nameOf(object)} is on its way out, and is made anew when it is gone`, { reason: 'Deleting' })
}

const occupied = (object: KubeObject): Failure =>
  new Failure(
    'invalid',
    `${nameOf(object)} is there, but not this Preview's; delete it or give it another name, or give the Preview another one`,
    { reason: 'NameOccupied' },
  )

/** The claims first, which take their targets and namespaces along: the Environment says whose the name is until they are on their way. */
export async function removeAll(
  leaving: readonly KubeObject[],
  { context }: PreviewServices,
  signal: AbortSignal,
): Promise<void> {
  for (const kind of [DeploymentTargetClaims, Environments])
    await eachOf(
      leaving.filter((one) => one.kind === kind.kind),
      WRITES,
      async (one) => {
        if (!signal.aborted && !isDeleting(one)) await context.kube.delete(kind, refOf(one), { uid: one.metadata.uid })
      },
    )
}
