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
  type Belongings,
  claimUidBehind,
  dropManagedEnvironment,
  dropSecretCopy,
  keepManagedEnvironment,
  keepSecretCopy,
} from './belongings.ts'
import { secretCopyRef } from './desired.ts'
import { type Access, destinationOf, type Problem } from './destination.ts'
import { type Holding, holdingOf, leadingStatus, nowhereStatus, waitingStatus, wrongStatus } from './status.ts'

/** One Environment: find out where it leads, then make its managed environment and its copy of the Secret say the same. */
export async function reconcileEnvironment(environment: Environment, belongings: Belongings): Promise<Next> {
  // What it owns goes with it by garbage collection; making it anew would only be in the way of that.
  if (isDeleting(environment)) return settled()

  const destination = destinationOf(environment, belongings.books)
  switch (destination.kind) {
    case 'wrong':
      return refuse(environment, destination.problem, belongings, holdingOf(environment))
    case 'claimGone':
      return refuse(environment, destination.problem, belongings, await holdOn(environment, undefined, belongings))
    case 'waiting': {
      const holding = await holdOn(environment, destination.claim, belongings)
      return settled({ status: waitingStatus(environment, destination, holding) })
    }
    case 'nowhere':
      await withdraw(environment, belongings)
      return settled({ status: nowhereStatus(environment) })
    case 'access':
      return lead(environment, destination.access, belongings)
  }
}

async function lead(environment: Environment, access: Access, belongings: Belongings): Promise<Next> {
  const source = await credentialsFor(environment, access, belongings)
  if (!source) {
    // The managed environment stays: a Secret that is being replaced must not end deliveries.
    await dropSecretCopy(environment, belongings, access.secret)
    return refuse(environment, noSecret(access), belongings, holdingOf(environment))
  }
  // Credentials that a user names directly are for the user to keep in the right type.
  const isCopied = access.through !== undefined && source.type !== secretTypes.managedEnvironment
  if (isCopied) await keepSecretCopy(environment, source, belongings)
  const secretName = isCopied ? secretCopyRef(environment).name : access.secret
  const managed = await keepManagedEnvironment(environment, access, secretName, belongings)
  if (!isCopied) await dropSecretCopy(environment, belongings, secretName)
  announceRecovery(environment, belongings)
  return settled({ status: leadingStatus(environment, managed, access) })
}

/** Only the two types that can hold credentials are cached, so a Secret that is not there is asked for once more. */
async function credentialsFor(
  { metadata }: Environment,
  { secret }: Access,
  { workshop, books }: Belongings,
): Promise<CoreSecret | undefined> {
  if (secret === '') return undefined
  const ref = { name: secret, namespace: metadata.namespace }
  return books.secret(ref) ?? (await workshop.kube.get(Secrets, ref))
}

/** An error that the user has to mend. */
function refuse(environment: Environment, problem: Problem, belongings: Belongings, holding: Holding): Next {
  announceProblem(environment, problem, belongings)
  return settled({ status: wrongStatus(problem, holding) })
}

/** Without a Bound claim deliveries go on only where this very claim led them: another one's target may be somebody else's now. */
async function holdOn(
  environment: Environment,
  claim: DeploymentTargetClaim | undefined,
  belongings: Belongings,
): Promise<Holding> {
  const behind = claimUidBehind(environment, belongings)
  if (behind === undefined || behind === claim?.metadata.uid) return holdingOf(environment)
  await withdraw(environment, belongings)
  return {}
}

async function withdraw(environment: Environment, belongings: Belongings): Promise<void> {
  await dropManagedEnvironment(environment, belongings)
  await dropSecretCopy(environment, belongings)
}

function announceProblem(environment: Environment, { reason, message, advice }: Problem, { workshop }: Belongings): void {
  const said = conditionOf(environment.status?.conditions, 'Reconciled')
  if (said?.reason === reason && said.message === message) return
  workshop.events.record(environment, { type: 'Warning', reason, message: `${message}. ${advice}` })
}

function announceRecovery(environment: Environment, { workshop }: Belongings): void {
  const said = conditionOf(environment.status?.conditions, 'Reconciled')
  if (said?.status !== 'False') return
  workshop.events.record(environment, { type: 'Normal', reason: `${said.reason}Resolved`, message: `no longer: ${said.message}` })
}

const noSecret = ({ secret, of }: Access): Problem => ({
  reason: 'SecretNotFound',
  message: `the secret ${secret} referenced by the Environment resource was not found`,
  advice: `${of}.clusterCredentialsSecret names it. Create the Secret in this namespace with a kubeconfig under the key "kubeconfig"`,
})
