import {
  conditionOf,
  type DeploymentTargetClaim,
  type Environment,
  type GitOpsDeploymentSet,
  inEffect,
  type KubeObject,
  labels,
  type Preview,
  type PreviewStatus,
  type Statement,
} from '../../api/index.ts'
import type { StatusDraft } from '../../engines/controller/index.ts'
import { asSentence, beginningOf, type Failure, sayFailure } from '../../std/index.ts'
import { REMOVAL_HELD, type Removals, removalStatement } from '../removal-guard/index.ts'
import { viewStatement } from '../repository-names/index.ts'
import type { PreviewEntry, PreviewPlan } from './plan.ts'
import type { PreviewRefusal, PreviewServices } from './services.ts'

type Told = NonNullable<PreviewStatus['environments']>[number]

/** What one look has found. */
interface Found {
  plan: PreviewPlan
  /** Environments that there are, by name, and what of them and their claims is to go. */
  there: ReadonlyMap<string, Environment>
  leaving: readonly KubeObject[]
  /** Why some stay although their branch is gone, and their names. */
  hold: string | undefined
  held: ReadonlySet<string>
  removals: Removals | undefined
  refusals: ReadonlyMap<string, PreviewRefusal>
  set: GitOpsDeploymentSet | undefined
  /** Why nothing newer was seen of the repository. */
  unseen: Failure | undefined
}

/** The reason of Ready while the status tells what would be. */
export const SUSPENDED = 'Suspended'

/** The schema takes so much. */
const MOST_TEXT = 512
const MOST_WAITING = 100

export function statusOf(preview: Preview, found: Found, services: PreviewServices): StatusDraft & { conditions: Statement[] } {
  const { plan, unseen, hold, removals } = found
  const counted = preview.spec.suspend ? preview.status?.removals : removals
  const environments = plan.live.map((entry) => ({ ...entry, ...howIs(preview, entry, found, services) }))
  const observedGeneration = preview.metadata.generation ?? 0
  const statements = [
    { type: 'Ready', ...readiness(preview, environments, found) },
    ...(preview.spec.suspend ? [] : removalStatement(preview, hold)),
    viewStatement(unseen, 'branches'),
  ]
  return {
    counts: {
      environments: environments.length,
      ready: environments.filter(({ ready }) => ready).length,
      waiting: plan.waiting.length,
      expired: plan.expired.length,
    },
    environments,
    // What was only tried is not done.
    expired: preview.spec.suspend ? (preview.status?.expired ?? []) : plan.expired,
    ...(plan.waiting.length > 0 && { waiting: plan.waiting.slice(0, MOST_WAITING) }),
    ...(counted && { removals: counted }),
    observedGeneration,
    conditions: statements.map((statement) => ({ ...statement, observedGeneration })),
  }
}

/** Whatever stands in the way first: a claim that is not made, a namespace that is not there yet, a sync that is not through. */
function howIs(
  { metadata }: Preview,
  { name }: PreviewEntry,
  { refusals, held, set }: Found,
  { claims, deployments }: PreviewServices,
): Pick<Told, 'ready' | 'reason' | 'message'> {
  if (held.has(name))
    return notReady('BranchGone', 'Its branch is gone from the repository. Condition RemovalHeld says why it stays.')
  const refusal = refusals.get(name)
  if (refusal) return notReady(refusal.reason, refusal.message)
  const ref = { name, namespace: metadata.namespace }
  const claim = claims.get(ref)
  if (claim?.status?.phase !== 'Bound') return notReady('Provisioning', claimWords(claim))
  const deployment = deployments.get(ref)
  if (deployment?.metadata.labels?.[labels.deploymentSet] === metadata.name) {
    const { isReady, reason, message } = inEffect(deployment)
    return isReady ? { ready: true, reason } : notReady(reason, message)
  }
  const { unready = [], conditions } = set?.status ?? {}
  const refused = unready.find((one) => one.name === name)
  const ready = conditionOf(conditions, 'Ready')
  if (!refused && unready.length >= MOST_NAMED_BY_SET && ready?.reason === 'DeploymentRefused')
    return notReady(ready.reason, `It is not accepted, like others. ${ready.message}`)
  return notReady(refused?.reason ?? 'Pending', refused?.message ?? 'It is about to be deployed.')
}

/** So many that are not accepted stand in the status of a set, and those first. */
const MOST_NAMED_BY_SET = 20

/** What keeps the set from making anything at all. */
function failureOf(set: GitOpsDeploymentSet | undefined): Omit<Statement, 'type'> | undefined {
  const { status, reason = '', message = '' } = conditionOf(set?.status?.conditions, 'Ready') ?? {}
  const isFailed = status === 'False' ? !OF_ONE.includes(reason) : reason === 'ReconcileFailed'
  return isFailed ? { status: 'False', reason, message: inOwnWords(message) } : undefined
}

/** Nobody has written the generators of the set, and nobody can change them. */
const inOwnWords = (message: string): string => WORDS.reduce((said, [theirs, ours]) => said.replace(theirs, ours), message)

const WORDS: readonly (readonly [theirs: string, ours: string])[] = [
  ['spec.generators[0].environments.annotations.branch: ', `label ${labels.preview}: `],
  ['Add the annotation, or choose by labelSelector none but those that have it', 'Take the label from it'],
  ['spec.generators[0].environments: ', ''],
  [': GitOpsDeployment.managed-gitops.redhat.com ${environment}.', '.'],
  ['Have a generator give it, give it a default', 'Use ${environment} or ${branch}, give it a default'],
]

/** Of these the entry of the environment tells. */
const OF_ONE = ['DeploymentsNotReady', 'DeploymentRefused']

function claimWords(claim: DeploymentTargetClaim | undefined): string {
  const ready = conditionOf(claim?.status?.conditions, 'Ready')
  return ready?.message || 'Its namespace is being made.'
}

const notReady = (reason: string, message: string) => ({
  ready: false,
  reason,
  message: message.length > MOST_TEXT ? beginningOf(message, MOST_TEXT - 1) : message,
})

function readiness(
  { spec }: Preview,
  environments: readonly Told[],
  { plan: { waiting }, set, there, leaving, unseen, hold }: Found,
): Omit<Statement, 'type'> {
  if (spec.suspend) return suspended(environments, there, leaving)
  if (unseen?.code === 'invalid') return { status: 'False', reason: unseen.reason ?? 'Invalid', message: sayFailure(unseen) }
  const failure = failureOf(set)
  if (failure) return failure
  // Before the others: what has no branch any more is not in effect and healthy, either.
  if (hold !== undefined) return { status: 'False', reason: REMOVAL_HELD, message: asSentence(hold) }
  const [first, ...others] = environments.filter(({ ready }) => !ready)
  const wait =
    waiting.length > 0
      ? `; ${waiting.length === 1 ? '1 branch waits' : `${waiting.length} branches wait`}, for spec.maxEnvironments is ${spec.maxEnvironments}`
      : ''
  if (!first)
    return {
      status: 'True',
      reason: 'Ready',
      message: asSentence(`${healthy(environments.length)}${wait}`),
    }
  const more = others.length > 0 ? `, and ${others.length} more` : ''
  return {
    status: 'False',
    reason: 'EnvironmentsNotReady',
    message: asSentence(`Environment ${first.name} of branch ${first.branch} (${first.reason})${more}: ${first.message}${wait}`),
  }
}

/** What would be, so that whoever changes a pattern sees it before. */
function suspended(environments: readonly Told[], there: Found['there'], leaving: Found['leaving']): Omit<Statement, 'type'> {
  const making = environments.filter(({ name }) => !there.has(name)).map(({ name }) => name)
  const going = new Set(leaving.map(({ metadata }) => metadata.name))
  const message = `spec.suspend: nothing is made, changed or removed; ${some('make', making)}, ${some('remove', [...going])}`
  return { status: 'Unknown', reason: SUSPENDED, message: asSentence(message) }
}

function some(verb: string, names: readonly string[]): string {
  if (names.length === 0) return `there is none to ${verb}`
  return `${names.length} to ${verb} (${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''})`
}

const MOST_NAMED = 3

function healthy(count: number): string {
  if (count === 0) return 'No branch has an environment'
  return count === 1
    ? 'The environment of 1 branch is in effect and healthy'
    : `All ${count} environments are in effect and healthy`
}
