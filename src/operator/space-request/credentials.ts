import type { Cache } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  CREDENTIALS_NAMESPACE,
  isPrivate,
  KUBECONFIG_KEY,
  keyOf,
  kubeconfigIn,
  labels,
  ownedBy,
  refOf,
  Secrets,
  type SpaceRequest,
  secretTypes,
  typeMetaOf,
} from '../../api/index.ts'
import { createOnce } from '../../engines/apply/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import type { Secret } from '../../std/index.ts'
import { ownLabels, type Space, serviceAccountOf } from './desired.ts'
import { unableToProvision } from './failures.ts'
import { kubeconfigOf, tokenIn } from './kubeconfig.ts'
import { asLabel, secretNames } from './names.ts'
import { byRequest, requestUidOf, uidOf } from './namespace.ts'
import { MANAGER } from './pieces.ts'
import type { Site } from './site.ts'
import { factsOf, renewalOf, type TokenFacts } from './token.ts'

/** The credentials as they stand: in which Secret, until when, and when they are to be renewed (milliseconds since the epoch). */
export interface SpaceCredentials {
  secretRef: string
  expiresAt?: number
  renewAt?: number
  /** Whose cluster it is in, where it is an agent's; and as whom kas lets in who shows the token. */
  agent?: string
  serviceAccountName?: string
}

export interface CredentialServices {
  context: ControllerContext
  site: Site
  secrets: Cache<CoreSecret>
}

/**
 * A kubeconfig with a bound token, in the namespace of the request, or of a private one in Berth's own; renewed in time, put back when
 * changed or deleted.
 */
export async function keepCredentials(services: CredentialServices, space: Space): Promise<SpaceCredentials> {
  const access = await keepSecret(services, space)
  const { agent } = services.site
  return agent ? { ...access, agent: keyOf(agent), serviceAccountName: serviceAccountOf(space.tier) } : access
}

async function keepSecret(services: CredentialServices, space: Space): Promise<SpaceCredentials> {
  const secret = secretOf(services, space.request)
  if (serviceAccountOf(space.tier) === '') return withdraw(services, secret)
  const facts = secret && factsOfGood(services, space, secret)
  if (secret && facts && renewalOf(facts) > services.context.clock.now()) return accessOf(secret, facts)

  const token = await services.site.issue(space)
  const kubeconfig = kubeconfigOf(services.site.endpoint(), space.namespace, token)
  const written = await writeSecret(services, space, secret, kubeconfig)
  const issued = factsOf(token)
  return issued ? accessOf(written, issued) : { secretRef: written.metadata.name }
}

function secretOf({ secrets }: CredentialServices, request: SpaceRequest): CoreSecret | undefined {
  const mine = secrets.by(byRequest, uidOf(request)).filter((secret) => isOurs(secret, request))
  const recorded = request.status?.namespaceAccess?.[0]?.secretRef
  return mine.find(({ metadata }) => metadata.name === recorded) ?? mine[0]
}

/** The Secret of a private request lies where nobody else reads it. */
const homeOf = (request: SpaceRequest): string =>
  isPrivate(request) ? CREDENTIALS_NAMESPACE : (request.metadata.namespace ?? '')

/**
 * Labels and owners can be forged in any namespace; a Secret of another one would carry the token out of this one. In Berth's own nobody else
 * writes: one with our name that has lost its labels is ours.
 */
const isOurs = (secret: CoreSecret, request: SpaceRequest): boolean =>
  secret.metadata.namespace === homeOf(request) &&
  (isPrivate(request)
    ? ['', uidOf(request)].includes(requestUidOf(secret))
    : (secret.metadata.ownerReferences?.some(({ uid }) => uid === uidOf(request)) ?? false))

/** The token's facts if the Secret says, letter for letter, what we would write with it; `undefined` if it has to be written anew. */
function factsOfGood({ site }: CredentialServices, space: Space, secret: CoreSecret): TokenFacts | undefined {
  const keys = Object.keys(secret.data ?? {})
  const kubeconfig = kubeconfigIn(secret)
  const token = kubeconfig && tokenIn(kubeconfig)
  if (!token || keys.length !== 1) return undefined
  if (kubeconfigOf(site.endpoint(), space.namespace, token).reveal() !== kubeconfig.reveal()) return undefined
  const facts = factsOf(token)
  // A token ends with its service account; one of the same name that was made later is another.
  return facts && facts.serviceAccountUid === site.accountUid(space) ? facts : undefined
}

const accessOf = ({ metadata }: CoreSecret, facts: TokenFacts): SpaceCredentials => ({
  secretRef: metadata.name,
  expiresAt: facts.expiresAt,
  renewAt: renewalOf(facts),
})

/** Under the recorded name if there is one, so that whoever refers to it goes on working. */
async function writeSecret(
  services: CredentialServices,
  space: Space,
  there: CoreSecret | undefined,
  kubeconfig: Secret<string>,
) {
  const wanted = secretFor(space, there?.metadata.name ?? '', kubeconfig)
  if (there) return replace(services, there, wanted)
  const recorded = space.request.status?.namespaceAccess?.[0]?.secretRef
  const names = secretNames(space.request.metadata.name, uidOf(space.request))
  for (const name of recorded ? [recorded, ...names] : names) {
    const written = await makeSecret(services, space, { ...wanted, metadata: { ...wanted.metadata, name } })
    if (written) return written
  }
  throw unableToProvision(
    `Secrets of other owners have every name that could be given: ${names.join(', ')}`,
    'Delete those Secrets, or make the SpaceRequest anew under another name',
  )
}

/** `undefined` when somebody else's Secret has the name. */
async function makeSecret(services: CredentialServices, space: Space, wanted: CoreSecret): Promise<CoreSecret | undefined> {
  const { made, there } = await createOnce(services.context.kube, Secrets, wanted, MANAGER)
  return there && isOurs(there, space.request) ? replace(services, there, wanted) : made
}

async function replace({ context }: CredentialServices, there: CoreSecret, wanted: CoreSecret): Promise<CoreSecret> {
  const others = Object.keys(there.data ?? {}).filter((key) => key !== KUBECONFIG_KEY)
  const data = { ...wanted.data, ...Object.fromEntries(others.map((key) => [key, null])) }
  return context.kube.patch(Secrets, refOf(there), { metadata: { labels: wanted.metadata.labels }, data }, { manager: MANAGER })
}

function secretFor(space: Space, name: string, kubeconfig: Secret<string>): CoreSecret {
  const { request, namespace } = space
  const { [labels.claimUid]: claimUid } = request.metadata.labels ?? {}
  return {
    ...typeMetaOf(Secrets),
    metadata: {
      name,
      namespace: homeOf(request),
      labels: {
        ...asLabel(labels.spaceRequest, request.metadata.name),
        [labels.provisionedNamespace]: namespace,
        ...ownLabels(request),
        ...(isPrivate(request) && claimUid !== undefined && { [labels.claimUid]: claimUid }),
      },
      ...(!isPrivate(request) && { ownerReferences: [ownedBy(request)] }),
    },
    type: secretTypes.opaque,
    data: { [KUBECONFIG_KEY]: Buffer.from(kubeconfig.reveal(), 'utf8').toString('base64') },
  }
}

/** The tier has no service account (any more): what was given out is taken back. */
async function withdraw(
  { context }: Pick<CredentialServices, 'context'>,
  secret: CoreSecret | undefined,
): Promise<SpaceCredentials> {
  if (secret) await context.kube.delete(Secrets, refOf(secret), { uid: secret.metadata.uid })
  return { secretRef: '' }
}

/** The Secret of a private request has no owner that takes it along. One that no cache shows is asked for live, or it would stay for ever. */
export async function withdrawPrivate(
  { context, secrets }: Pick<CredentialServices, 'context' | 'secrets'>,
  request: SpaceRequest,
): Promise<void> {
  if (!isPrivate(request)) return
  const uid = uidOf(request)
  const known = secrets.by(byRequest, uid).filter((secret) => isOurs(secret, request))
  const query = { namespace: homeOf(request), labels: `${labels.spaceRequestUid}=${uid}` }
  const left = known.length > 0 ? known : await context.kube.list(Secrets, query)
  for (const secret of left) await withdraw({ context }, secret)
}
