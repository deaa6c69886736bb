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
  type EnvironmentContext,
  keepManagedEnvironment,
  keepSecretCopy,
} from './belongings.ts'
import { secretCopyRef } from './desired.ts'
import { destinationOf, type EnvironmentAccess, type EnvironmentProblem } from './destination.ts'
import { type EnvironmentHolding, holdingOf, leadingStatus, nowhereStatus, waitingStatus, wrongStatus } from './status.ts'

/** One Environment: find out where it leads, then make its managed environment and its copy of the Secret say the same. */
export async function reconcileEnvironment(environment: Environment, context: EnvironmentContext): Promise<Next> {
  // Its objects go with it by garbage collection; making it anew would only be in the way of that.
  if (isDeleting(environment)) return settled()

  const destination = destinationOf(environment, context.caches)
  switch (destination.kind) {
    case 'wrong':
      return refuse(environment, destination.problem, context, holdingOf(environment))
    case 'claimGone':
      return refuse(environment, destination.problem, context, await holdOn(environment, undefined, context))
    case 'waiting': {
      const holding = await holdOn(environment, destination.claim, context)
      return settled({ status: waitingStatus(environment, destination, holding) })
    }
    case 'nowhere':
      await withdraw(environment, context)
      return settled({ status: nowhereStatus(environment) })
    case 'access':
      return followTarget(environment, destination.access, context)
  }
}

async function followTarget(environment: Environment, access: EnvironmentAccess, context: EnvironmentContext): Promise<Next> {
  const source = await credentialsFor(environment, access, context)
  if (!source) {
    // The managed environment stays: a Secret that is being replaced must not end deliveries.
    await dropSecretCopy(environment, context, access.secret)
    return refuse(environment, noSecret(access), context, holdingOf(environment))
  }
  // Credentials that a user names directly are for the user to keep in the right type.
  const isCopied = access.through !== undefined && source.type !== secretTypes.managedEnvironment
  if (isCopied) await keepSecretCopy(environment, source, context)
  const secretName = isCopied ? secretCopyRef(environment).name : access.secret
  const managed = await keepManagedEnvironment(environment, access, secretName, context)
  if (!isCopied) await dropSecretCopy(environment, context, secretName)
  announceRecovery(environment, context)
  return settled({ status: leadingStatus(environment, managed, access) })
}

/** Only the two types that can hold credentials are cached, so a Secret that is not there is asked for once more. */
async function credentialsFor(
  { metadata }: Environment,
  { secret }: EnvironmentAccess,
  { workshop, caches }: EnvironmentContext,
): Promise<CoreSecret | undefined> {
  if (secret === '') return undefined
  const ref = { name: secret, namespace: metadata.namespace }
  return caches.secret(ref) ?? (await workshop.kube.get(Secrets, ref))
}

/** An error that the user has to mend. */
function refuse(
  environment: Environment,
  problem: EnvironmentProblem,
  context: EnvironmentContext,
  holding: EnvironmentHolding,
): Next {
  announceProblem(environment, problem, context)
  return settled({ status: wrongStatus(problem, holding) })
}

/** Without a Bound claim deliveries go on only where this very claim led them: another one's target may be somebody else's now. */
async function holdOn(
  environment: Environment,
  claim: DeploymentTargetClaim | undefined,
  context: EnvironmentContext,
): Promise<EnvironmentHolding> {
  const behind = claimUidBehind(environment, context)
  if (behind === undefined || behind === claim?.metadata.uid) return holdingOf(environment)
  await withdraw(environment, context)
  return {}
}

async function withdraw(environment: Environment, context: EnvironmentContext): Promise<void> {
  await dropManagedEnvironment(environment, context)
  await dropSecretCopy(environment, context)
}

function announceProblem(
  environment: Environment,
  { reason, message, advice }: EnvironmentProblem,
  { workshop }: EnvironmentContext,
): void {
  const said = conditionOf(environment.status?.conditions, 'Reconciled')
  if (said?.reason === reason && said.message === message) return
  workshop.events.record(environment, { type: 'Warning', reason, message: `${message}. ${advice}` })
}

function announceRecovery(environment: Environment, { workshop }: EnvironmentContext): void {
  const said = conditionOf(environment.status?.conditions, 'Reconciled')
  if (said?.status !== 'False') return
  workshop.events.record(environment, { type: 'Normal', reason: `${said.reason}Resolved`, message: `no longer: ${said.message}` })
}

const noSecret = ({ secret, of }: EnvironmentAccess): EnvironmentProblem => ({
  reason: 'SecretNotFound',
  message: `the secret ${secret} referenced by the Environment resource was not found`,
  advice: `${of}.clusterCredentialsSecret names it. Create the Secret in this namespace with a kubeconfig under the key "kubeconfig"`,
})
