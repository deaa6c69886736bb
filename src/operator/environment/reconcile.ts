import {
  type CoreSecret,
  conditionOf,
  type DeploymentTargetClaim,
  type Environment,
  isDeleting,
  Secrets,
  secretTypes,
} from '../../api/index.ts'
import { type Next, settled } from '../../engines/controller/index.ts'
import {
  claimUidBehind,
  dropManagedEnvironment,
  dropSecretCopy,
  type EnvironmentServices,
  keepManagedEnvironment,
  keepSecretCopy,
} from './belongings.ts'
import { secretCopyRef } from './desired.ts'
import { destinationOf, type EnvironmentAccess, type EnvironmentProblem } from './destination.ts'
import { type EnvironmentHolding, holdingOf, leadingStatus, nowhereStatus, waitingStatus, wrongStatus } from './status.ts'

/** One Environment: find out where it leads, then make its managed environment and its copy of the Secret say the same. */
export async function reconcileEnvironment(environment: Environment, services: EnvironmentServices): Promise<Next> {
  // Its objects go with it by garbage collection; making it anew would only be in the way of that.
  if (isDeleting(environment)) return settled()

  const destination = destinationOf(environment, services.caches)
  switch (destination.kind) {
    case 'wrong':
      return refuse(environment, destination.problem, services, holdingOf(environment))
    case 'claimGone':
      return refuse(environment, destination.problem, services, await holdOn(environment, undefined, services))
    case 'waiting': {
      const holding = await holdOn(environment, destination.claim, services)
      return settled({ status: waitingStatus(environment, destination, holding) })
    }
    case 'nowhere':
      await withdraw(environment, services)
      return settled({ status: nowhereStatus(environment) })
    case 'access':
      return followTarget(environment, destination.access, services)
  }
}

async function followTarget(environment: Environment, access: EnvironmentAccess, services: EnvironmentServices): Promise<Next> {
  const source = await credentialsFor(environment, access, services)
  if (!source) {
    // The managed environment stays: a Secret that is being replaced must not end deliveries.
    await dropSecretCopy(environment, services, access.secret)
    return refuse(environment, noSecret(access), services, holdingOf(environment))
  }
  // Credentials that a user names directly are for the user to keep in the right type.
  const isCopied = access.through !== undefined && source.type !== secretTypes.managedEnvironment
  if (isCopied) await keepSecretCopy(environment, source, services)
  const secretName = isCopied ? secretCopyRef(environment).name : access.secret
  const managed = await keepManagedEnvironment(environment, access, secretName, services)
  if (!isCopied) await dropSecretCopy(environment, services, secretName)
  announceRecovery(environment, services)
  return settled({ status: leadingStatus(environment, managed, access) })
}

/** Only the two types that can hold credentials are cached, so a Secret that is not there is asked for once more. */
async function credentialsFor(
  { metadata }: Environment,
  { secret }: EnvironmentAccess,
  { context, caches }: EnvironmentServices,
): Promise<CoreSecret | undefined> {
  if (secret === '') return undefined
  const ref = { name: secret, namespace: metadata.namespace }
  return caches.secret(ref) ?? (await context.kube.get(Secrets, ref))
}

/** An error that the user has to mend. */
function refuse(
  environment: Environment,
  problem: EnvironmentProblem,
  services: EnvironmentServices,
  holding: EnvironmentHolding,
): Next {
  announceProblem(environment, problem, services)
  return settled({ status: wrongStatus(problem, holding) })
}

/** Without a Bound claim deliveries go on only where this very claim led them: another one's target may be somebody else's now. */
async function holdOn(
  environment: Environment,
  claim: DeploymentTargetClaim | undefined,
  services: EnvironmentServices,
): Promise<EnvironmentHolding> {
  const behind = claimUidBehind(environment, services)
  if (behind === undefined || behind === claim?.metadata.uid) return holdingOf(environment)
  await withdraw(environment, services)
  return {}
}

async function withdraw(environment: Environment, services: EnvironmentServices): Promise<void> {
  await dropManagedEnvironment(environment, services)
  await dropSecretCopy(environment, services)
}

function announceProblem(
  environment: Environment,
  { reason, message, advice }: EnvironmentProblem,
  { context }: EnvironmentServices,
): void {
  const said = conditionOf(environment.status?.conditions, 'Reconciled')
  if (said?.reason === reason && said.message === message) return
  context.events.record(environment, { type: 'Warning', reason, message: `${message}. ${advice}` })
}

function announceRecovery(environment: Environment, { context }: EnvironmentServices): void {
  const said = conditionOf(environment.status?.conditions, 'Reconciled')
  if (said?.status !== 'False') return
  context.events.record(environment, { type: 'Normal', reason: `${said.reason}Resolved`, message: `no longer: ${said.message}` })
}

const noSecret = ({ secret, of }: EnvironmentAccess): EnvironmentProblem => ({
  reason: 'SecretNotFound',
  message: `the secret ${secret} referenced by the Environment resource was not found`,
  advice: `${of}.clusterCredentialsSecret names it. Create the Secret in this namespace with a kubeconfig under the key "kubeconfig"`,
})
