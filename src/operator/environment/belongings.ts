import { isDeepStrictEqual } from 'node:util'
import {
  type CoreSecret,
  type Environment,
  Environments,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type Kind,
  type KubeObject,
  keyOf,
  labels,
  ownedBy,
  type Ref,
  refOf,
  Secrets,
} from '../../api/index.ts'
import { createOnce } from '../../engines/apply/index.ts'
import { type ControllerContext, type Next, settled } from '../../engines/controller/index.ts'
import { Failure } from '../../std/index.ts'
import type { EnvironmentCaches } from './caches.ts'
import { managedEnvironmentFor, managedEnvironmentRef, managedEnvironmentSpec, secretCopyFor, secretCopyRef } from './desired.ts'
import type { EnvironmentAccess } from './destination.ts'
import { controllerOf, isMadeFor, ownersOf } from './possession.ts'

export const MANAGER = 'environment'

/** An Environment has a managed environment and a copy of a Secret. Nothing is written that is right already. */
export interface EnvironmentServices {
  context: ControllerContext
  caches: EnvironmentCaches
}

/**
 * The managed environment for this access. It is patched, not applied: fields that somebody else set, and the owner
 * that had the name before, must go, and server-side apply leaves both.
 */
export async function keepManagedEnvironment(
  environment: Environment,
  access: EnvironmentAccess,
  secretName: string,
  { context: { kube }, caches }: EnvironmentServices,
): Promise<GitOpsDeploymentManagedEnvironment> {
  const desired = managedEnvironmentFor(environment, access, managedEnvironmentSpec(access, secretName))
  const existing = caches.managed.get(refOf(desired))
  if (!existing) return kube.create(GitOpsDeploymentManagedEnvironments, desired, { manager: MANAGER })
  if (controllerOf(existing) && !isMadeFor(existing, environment.metadata)) throw occupied(existing, environment)
  const metadata = { ...ownershipPatch(existing, environment), ...claimPatch(existing, desired) }
  const isRight = isDeepStrictEqual({ ...existing.spec, ...desired.spec }, existing.spec)
  if (isRight && Object.keys(metadata).length === 0) return existing
  const patch = { metadata, spec: desired.spec }
  return kube.patch(GitOpsDeploymentManagedEnvironments, refOf(desired), patch, { manager: MANAGER })
}

/** The claim through which the managed environment leads where it leads; none when credentials were given directly. */
export function claimUidBehind(environment: Environment, { caches }: EnvironmentServices): string | undefined {
  const existing = caches.managed.get(managedEnvironmentRef(environment))
  return existing && isMadeFor(existing, environment.metadata) ? existing.metadata.labels?.[labels.claimUid] : undefined
}

function claimPatch(existing: KubeObject, desired: KubeObject): { labels?: Record<string, string | null> } {
  const wanted = desired.metadata.labels?.[labels.claimUid]
  if (existing.metadata.labels?.[labels.claimUid] === wanted) return {}
  return { labels: { [labels.claimUid]: wanted ?? null } }
}

/** The copy of this Secret, data and all. What was added to the copy goes, what was taken from it comes back. */
export async function keepSecretCopy(
  environment: Environment,
  source: CoreSecret,
  { context: { kube }, caches }: EnvironmentServices,
): Promise<void> {
  const desired = secretCopyFor(environment, source)
  const ref = secretCopyRef(environment)
  // The caches of Secrets learn of it from their watch only, so it may be there already.
  const existing = caches.secret(ref) ?? (await createOnce(kube, Secrets, desired, MANAGER)).there
  if (!existing) return
  const isOurs = isMadeFor(existing, environment.metadata) || isUnclaimedCopy(existing, environment)
  if (!isOurs || existing.type !== desired.type) throw occupied(existing, environment)
  const ownership = ownershipPatch(existing, environment)
  const isLabelled = existing.metadata.labels?.[labels.environmentSecret] === environment.metadata.name
  const isSame = isDeepStrictEqual(existing.data ?? {}, desired.data)
  if (isSame && isLabelled && !ownership) return
  const surplus = Object.keys(existing.data ?? {}).filter((key) => !(key in (desired.data ?? {})))
  const data = { ...Object.fromEntries(surplus.map((key) => [key, null])), ...desired.data }
  const metadata = { labels: desired.metadata.labels, ...ownership }
  await kube.patch(Secrets, ref, { metadata, data }, { manager: MANAGER })
}

export async function dropManagedEnvironment(environment: Environment, services: EnvironmentServices): Promise<void> {
  const existing = services.caches.managed.get(managedEnvironmentRef(environment))
  await drop(GitOpsDeploymentManagedEnvironments, existing, environment, services)
}

/** `inUse` is the Secret that the managed environment names now: a user may have given it the copy's name. */
export async function dropSecretCopy(environment: Environment, services: EnvironmentServices, inUse?: string): Promise<void> {
  const ref = secretCopyRef(environment)
  if (inUse === ref.name) return
  await drop(Secrets, services.caches.secret(ref), environment, services)
}

async function drop<T extends KubeObject>(
  kind: Kind<T>,
  existing: T | undefined,
  { metadata }: Environment,
  { context: { kube } }: EnvironmentServices,
): Promise<void> {
  // What a user made under our name is not ours to delete.
  if (!existing || !isMadeFor(existing, metadata)) return
  await kube.delete(kind, refOf(existing), { uid: existing.metadata.uid })
}

/** Only one controller may own an object: an Environment that had the name before is replaced by this one. */
function ownershipPatch({ metadata }: KubeObject, environment: Environment): Partial<KubeObject['metadata']> | undefined {
  const wanted = ownedBy(environment)
  const owners = metadata.ownerReferences ?? []
  if (owners.some(({ uid, apiVersion }) => uid === wanted.uid && apiVersion === wanted.apiVersion)) return undefined
  const others = owners.filter(({ kind, controller }) => kind !== environment.kind && !controller)
  return { ownerReferences: [...others, wanted] }
}

const isUnclaimedCopy = (secret: CoreSecret, { metadata }: Environment): boolean =>
  controllerOf(secret) === undefined && secret.metadata.labels?.[labels.environmentSecret] === metadata.name

const occupied = (existing: KubeObject, environment: Environment) =>
  new Failure('invalid', `${existing.kind} ${keyOf(refOf(existing))} is in the way: it was not made for this Environment`, {
    reason: 'NameOccupied',
    object: `Environment ${keyOf(refOf(environment))}`,
    remedy: 'Delete it, or give the Environment another name.',
  })

/**
 * The Environment is gone. Garbage collection removes objects that name it with the right group; those of the seed's
 * builders name a wrong one, or were restored from a backup, and would stay for ever.
 */
export async function sweepAfter(environment: Ref, { context: { kube }, caches }: EnvironmentServices): Promise<Next> {
  const orphans = caches.managed.in(environment.namespace ?? '').filter((managed) => isMadeFor(managed, environment))
  if (orphans.length === 0) return settled()
  // The cache may lag behind a new Environment of this name.
  if (await kube.get(Environments, environment)) return settled()
  for (const orphan of orphans)
    await kube.delete(GitOpsDeploymentManagedEnvironments, refOf(orphan), { uid: orphan.metadata.uid })
  return settled()
}

/** Environments that do not exist, but something says it belongs to them: found once, at the start. */
export const vanishedOwners = ({ managed, environments }: EnvironmentCaches): Ref[] =>
  [...managed.all()].flatMap((object) => ownersOf(object).filter((owner) => !environments.get(owner)))
