import {
  claimRefOf,
  claims,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  isDeleting,
  isPrivate,
  isTrue,
} from '../../../api/index.ts'
import { quantity } from '../../../std/index.ts'

/**
 * Why this target is not for this claim; `undefined` when it is. The words are those of AppStudio's GitOps Service.
 * Sizes and architectures come from phase 2 of AppStudio's ADR 8 (environment provisioning); private targets are Berth's own.
 */
export function mismatch(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  if (claimRefOf(target) && !claims(target, claim))
    return "DeploymentTarget already references another DeploymentTargetClaim via DeploymentTarget's .spec.claimRef field"
  if (target.spec.deploymentTargetClassName !== claim.spec.deploymentTargetClassName)
    return 'deploymentTargetClassName does not match'
  if (isPrivate(target) && claimRefOf(target)?.uid === undefined)
    return 'DeploymentTarget was made for a private DeploymentTargetClaim'
  return unsuitable(claim, target)
}

/** The checks that hold even where claim and target name each other. */
export function unsuitable(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  const { apiURL, clusterCredentialsSecret } = target.spec.kubernetesCredentials
  if (isDeleting(target)) return 'DeploymentTarget is being deleted'
  if (!apiURL && !clusterCredentialsSecret) return 'DeploymentTarget does not have cluster credentials'
  if (isPrivate(claim) !== isPrivate(target))
    return `${isPrivate(claim) ? 'the claim' : 'DeploymentTarget'} is private, and the other is not`
  if (!isAvailable(target)) return 'DeploymentTarget is not in Available phase'
  if (!sameArch(claim.spec.arch, target.spec.arch))
    return `DeploymentTarget has arch "${target.spec.arch ?? ''}", the claim asks for "${claim.spec.arch ?? ''}"`
  const short = shortOf(claim, target)
  return short && `DeploymentTarget has less ${short} than the claim requests`
}

/** A target of a vanished or failed claim is not on offer; neither is one whose credentials are not usable yet. */
function isAvailable({ status }: DeploymentTarget): boolean {
  if (status?.phase === 'Bound') return isTrue(status.conditions, 'CredentialsValid')
  return status?.phase === 'Available'
}

/** The first resource of which the target offers less than the claim requests. What a target does not state is unlimited. */
export function shortOf(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  const offered = target.spec.resources?.requests ?? {}
  return Object.entries(claim.spec.resources?.requests ?? {}).find(([name, wanted]) => {
    const has = offered[name]
    return has !== undefined && quantity(has) < quantity(wanted)
  })?.[0]
}

/** The claim that asks for nothing takes any; spellings do not matter, nor does the en dash of the `x86–64` in AppStudio's ADR 8. */
export const sameArch = (wanted: string | undefined, has: string | undefined): boolean =>
  !wanted || !has || archOf(wanted) === archOf(has)

const ARCH: Record<string, string> = { 'x86-64': 'amd64', x8664: 'amd64', x64: 'amd64', aarch64: 'arm64' }

function archOf(written: string): string {
  const plain = written.toLowerCase().replace(/[\u2010-\u2015_]/g, '-')
  return ARCH[plain] ?? plain
}

/** Smallest first, then oldest, then by name: the same choice whoever makes it. */
export function compareTargets(a: DeploymentTarget, b: DeploymentTarget): number {
  return (
    sizeOrder(a, b) ||
    order(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    order(a.metadata.name, b.metadata.name)
  )
}

/** By memory, then CPU, then everything else by name. What states no size counts as the largest: it may be anything. */
function sizeOrder(a: DeploymentTarget, b: DeploymentTarget): number {
  const [one, two] = [sizesOf(a), sizesOf(b)]
  const others = [...new Set([...Object.keys(one), ...Object.keys(two)])].sort()
  for (const name of ['memory', 'cpu', ...others]) {
    const difference = order(sizeOf(one[name]), sizeOf(two[name]))
    if (difference !== 0) return difference
  }
  return 0
}

const sizesOf = ({ spec }: DeploymentTarget): Record<string, string | number> => spec.resources?.requests ?? {}

const sizeOf = (stated: string | number | undefined): number =>
  stated === undefined ? Number.POSITIVE_INFINITY : quantity(stated)

const order = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)
