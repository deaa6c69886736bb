import { hash } from 'node:crypto'
import {
  AGENT_PROVISIONER,
  annotations,
  type DeploymentTargetClaim,
  type DeploymentTargetClass,
  finalizers,
  labels,
  MANAGED_BY_BERTH,
  privateToOf,
  requesterOf,
  type SpaceRequest,
  SpaceRequests,
  tierNameOf,
  typeMetaOf,
} from '../../../api/index.ts'
import { Failure, withoutEnd } from '../../../std/index.ts'

const LONGEST = 63

/** The same claim always asks under the same name, so that asking twice is asking once; a later claim of its name asks under another. */
function requestNameOf({ metadata }: DeploymentTargetClaim): string {
  const mark = hash('sha256', metadata.uid ?? '').slice(0, 5)
  return `${withoutEnd(metadata.name.slice(0, LONGEST - 6), '-.')}-${mark}`
}

/** Label values are shorter than names: one that is too long ends in a hash of the whole. The UID beside it is what decides. */
function labelValueOf(name: string): string {
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 9)}-${hash('sha256', name).slice(0, 8)}`
}

/** A word that nobody reads is a mistake of whoever wrote it: the class cannot be changed, and its claims would get something else. */
export function parametersOf(from: DeploymentTargetClass): { tierName: string; agent: string | undefined } {
  assertKnown(from)
  const tierName = tierOf(from)
  assertCredentials(from)
  return { tierName, agent: from.spec.provisioner === AGENT_PROVISIONER ? agentOf(from) : undefined }
}

/** Keys with a prefix, such as `example.com/colour`, are for others who read the SpaceRequest. */
function assertKnown({ metadata, spec: { provisioner, parameters = {} } }: DeploymentTargetClass): void {
  const known = provisioner === AGENT_PROVISIONER ? ['agent', 'tierName', 'credentials'] : ['tierName', 'credentials']
  const unknown = Object.keys(parameters).filter((key) => !key.includes('/') && !known.includes(key))
  if (unknown.length === 0) return
  throw invalidParameter(
    `DeploymentTargetClass ${metadata.name}: parameters have ${unknown.join(', ')}, which provisioner ${provisioner} does not know`,
    `Make a class with none but these: ${known.join(', ')}`,
  )
}

function tierOf(from: DeploymentTargetClass): string {
  const tierName = tierNameOf(from)
  if (typeof tierName === 'string') return tierName
  throw invalidParameter(
    `DeploymentTargetClass ${from.metadata.name}: parameters.tierName is ${JSON.stringify(tierName)}`,
    'Make a class whose parameters.tierName names a SpaceTier',
  )
}

/** The tenant does not decide who answers: the class says in whose cluster. */
function agentOf({ metadata, spec: { parameters = {} } }: DeploymentTargetClass): string {
  const { agent } = parameters
  if (typeof agent === 'string' && AGENT.test(agent)) return agent
  throw invalidParameter(
    `DeploymentTargetClass ${metadata.name}: parameters.agent is ${JSON.stringify(agent)}`,
    'Make a class whose parameters.agent names an Agent as namespace/name, such as berth-system/dev',
  )
}

/** Of an agent's space the credentials can lie nowhere but beside the claim: it has no namespace here. */
function assertCredentials({ metadata, spec: { provisioner, parameters = {} } }: DeploymentTargetClass): void {
  const { credentials = 'Shared' } = parameters
  const known = provisioner === AGENT_PROVISIONER ? ['Shared'] : ['Shared', 'Private']
  if (known.some((each) => each === credentials)) return
  throw invalidParameter(
    `DeploymentTargetClass ${metadata.name}: parameters.credentials is ${JSON.stringify(credentials)}`,
    `Make a class whose parameters.credentials are ${known.join(' or ')}, or leave them out`,
  )
}

const invalidParameter = (message: string, remedy: string) =>
  new Failure('invalid', message, { reason: 'ClassParametersInvalid', remedy })

const AGENT = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\/[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/

/** Without an owner reference: under Retain the request outlives its claim. */
export function requestFor(claim: DeploymentTargetClaim, from: DeploymentTargetClass): SpaceRequest {
  const { name, namespace = '', uid = '' } = claim.metadata
  const { parameters = {}, reclaimPolicy } = from.spec
  const { tierName, agent } = parametersOf(from)
  const privateTo = privateToOf(claim)
  const { resources } = claim.spec
  return {
    ...typeMetaOf(SpaceRequests),
    metadata: {
      name: requestNameOf(claim),
      namespace,
      labels: { [labels.claim]: labelValueOf(name), [labels.claimUid]: uid, [labels.managedBy]: MANAGED_BY_BERTH },
      annotations: {
        [annotations.requester]: requesterOf(claim),
        [annotations.reclaimPolicy]: reclaimPolicy,
        ...(agent !== undefined && { [annotations.agent]: agent }),
        ...(privateTo !== undefined && { [annotations.privateTo]: privateTo }),
        ...(Object.keys(parameters).length > 0 && { [annotations.parameters]: JSON.stringify(parameters) }),
      },
      // Here already, so that the request needs no write of its own for it.
      finalizers: [finalizers.spaceRequest],
    },
    spec: {
      tierName,
      targetClusterRoles: [],
      ...(resources && { resources }),
    },
  }
}
