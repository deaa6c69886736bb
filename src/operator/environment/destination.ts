import {
  byHolder,
  claimRefOf,
  claims,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  type Environment,
  isPrivate,
  refOf,
  targetNameOf,
} from '../../api/index.ts'
import { claimNameOf, credentialsOf, type EnvironmentCaches } from './caches.ts'

/** How the place that an Environment leads to is reached. */
export interface EnvironmentAccess {
  apiURL: string
  secret: string
  allowInsecureSkipTLSVerify: boolean
  namespaces: string[]
  clusterResources: boolean
  /** The claim that led here, and its target. */
  through?: { claimUid: string; target: string }
  /** The field that holds these credentials, for messages. */
  of: string
}

/** The user has to mend it: upstream's sentence, which clients compare, and ours, which helps. */
export interface EnvironmentProblem {
  reason: string
  message: string
  advice: string
}

export type EnvironmentDestination =
  | { kind: 'nowhere' }
  | { kind: 'waiting'; claim: DeploymentTargetClaim; lost: boolean }
  | { kind: 'wrong'; problem: EnvironmentProblem }
  | { kind: 'claimGone'; problem: EnvironmentProblem }
  | { kind: 'access'; access: EnvironmentAccess }

/** Finds where the Environment leads, from the caches; nothing is written and nobody is asked. */
export function destinationOf(environment: Environment, caches: EnvironmentCaches): EnvironmentDestination {
  const claimName = claimNameOf(environment)
  if (claimName && environment.spec.unstableConfigurationFields) return wrong(BOTH)
  if (claimName) return behindClaim(environment, claimName, caches)
  const credentials = credentialsOf(environment)
  if (!credentials) return { kind: 'nowhere' }
  return reachedBy({
    apiURL: credentials.apiURL,
    secret: credentials.clusterCredentialsSecret,
    allowInsecureSkipTLSVerify: credentials.allowInsecureSkipTLSVerify ?? false,
    namespaces: credentials.namespaces ?? [],
    clusterResources: credentials.clusterResources ?? false,
    of: 'spec.unstableConfigurationFields.kubernetesCredentials',
  })
}

/** A managed environment with such a URL would be refused at admission, with words that name an object nobody made. */
const reachedBy = (access: EnvironmentAccess): EnvironmentDestination =>
  access.apiURL === '' || access.apiURL.startsWith('https://') ? { kind: 'access', access } : wrong(notHttps(access))

function behindClaim({ metadata }: Environment, claimName: string, caches: EnvironmentCaches): EnvironmentDestination {
  const claim = caches.claims.get({ name: claimName, namespace: metadata.namespace })
  if (!claim) return { kind: 'claimGone', problem: noClaim(claimName) }
  const phase = claim.status?.phase
  if (phase !== 'Bound') return { kind: 'waiting', claim, lost: phase === 'Lost' }
  if (isPrivate(claim)) return wrong(privateClaim(claimName))
  const found = targetOf(claim, caches)
  return 'reason' in found ? wrong(found) : reachedBy(accessTo(found, claim))
}

const accessTo = ({ metadata, spec }: DeploymentTarget, claim: DeploymentTargetClaim): EnvironmentAccess => {
  const { apiURL, clusterCredentialsSecret, allowInsecureSkipTLSVerify = false, defaultNamespace } = spec.kubernetesCredentials
  return {
    apiURL,
    secret: clusterCredentialsSecret,
    allowInsecureSkipTLSVerify,
    namespaces: defaultNamespace ? [defaultNamespace] : [],
    clusterResources: false,
    through: { claimUid: claim.metadata.uid ?? '', target: metadata.name },
    of: `DeploymentTarget ${metadata.name}: spec.kubernetesCredentials`,
  }
}

/** The target that a Bound claim has: the one it names, else the only one that names it. */
function targetOf(claim: DeploymentTargetClaim, { targets }: EnvironmentCaches): DeploymentTarget | EnvironmentProblem {
  const { name: claimName, namespace } = claim.metadata
  const name = targetNameOf(claim)
  if (name) {
    const target = targets.get({ name, namespace })
    if (!target) return missingTarget(claimName, name)
    const holder = claimRefOf(target)
    return holder && !claims(target, claim) ? takenTarget(claimName, name, holder.name) : target
  }
  const naming = targets.by(byHolder, `${namespace}/${claimName}`).filter((target) => claims(target, claim))
  const [only] = naming
  if (!only) return noTarget(claimName)
  return naming.length > 1
    ? manyTargets(
        claimName,
        naming.map((target) => refOf(target).name),
      )
    : only
}

const wrong = (problem: EnvironmentProblem) => ({ kind: 'wrong' as const, problem })

const BOTH: EnvironmentProblem = {
  reason: 'InvalidEnvironment',
  message: 'Environment is invalid since it cannot have both DeploymentTargetClaim and credentials configuration set',
  advice: 'Remove either spec.configuration.target.deploymentTargetClaim or spec.unstableConfigurationFields',
}

const notHttps = ({ of, apiURL }: EnvironmentAccess): EnvironmentProblem => ({
  reason: 'InvalidAPIURL',
  message: 'cluster api url must start with https://',
  advice: `${of}.apiURL is "${apiURL}". Use the https:// URL of the Kubernetes API`,
})

const noClaim = (claim: string): EnvironmentProblem => ({
  reason: 'DeploymentTargetClaimNotFound',
  message: 'DeploymentTargetClaim not found while generating the desired Environment resource',
  advice: `spec.configuration.target.deploymentTargetClaim.claimName names "${claim}". Create that DeploymentTargetClaim in this namespace, or name another`,
})

const privateClaim = (claim: string): EnvironmentProblem => ({
  reason: 'DeploymentTargetClaimPrivate',
  message: 'DeploymentTargetClaim is private, and its credentials are not given to an Environment',
  advice: `DeploymentTargetClaim ${claim} was made for a workspace, or its class says parameters.credentials: Private. Name a claim of another class`,
})

const targetProblem = (message: string, advice: string): EnvironmentProblem => ({
  reason: 'DeploymentTargetNotFound',
  message,
  advice,
})

const missingTarget = (claim: string, target: string) =>
  targetProblem(
    'DeploymentTargetClaim references a DeploymentTarget that does not exist',
    `DeploymentTargetClaim ${claim} has DeploymentTarget "${target}". Bring it back, or name another claim`,
  )

const noTarget = (claim: string) =>
  targetProblem(
    'DeploymentTarget not found for DeploymentTargetClaim',
    `DeploymentTargetClaim ${claim} is Bound, but names no target and no DeploymentTarget names it. Delete and create the claim again`,
  )

const takenTarget = (claim: string, target: string, holder: string) =>
  targetProblem(
    'Unable to find the DeploymentTarget for DeploymentTargetClaim',
    `DeploymentTargetClaim ${claim} names DeploymentTarget ${target}, which DeploymentTargetClaim ${holder} has. Name another claim`,
  )

const manyTargets = (claim: string, targets: string[]) =>
  targetProblem(
    'Unable to find the DeploymentTarget for DeploymentTargetClaim',
    `DeploymentTargetClaim ${claim} is named by several DeploymentTargets: ${targets.sort().join(', ')}. Remove spec.claimRef from all but one`,
  )
