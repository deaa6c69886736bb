import { causesOf } from '../../../adapters/kube/index.ts'
import { beginningOf, type Failure, failureReason } from '../../../std/index.ts'
import { type ObjectId, sayId } from '../../apply/index.ts'

/**
 * waiting: what it depends on is not ready yet, or what depends on it not gone; it is tried again. withheld: its deletion
 * waits for a confirmation. skipped: the sync lets it be, for the reason given.
 */
export type Change =
  | 'created'
  | 'configured'
  | 'unchanged'
  | 'pruned'
  | 'terminating'
  | 'waiting'
  | 'withheld'
  | 'skipped'
  | 'failed'

/** Tells what a sync did to one object. Logs, Events, status, inventory and tests all read this list. */
export interface Entry {
  readonly id: ObjectId
  readonly change: Change
  /** Why it was skipped or failed, fit for users. */
  readonly why?: string
  readonly failure?: Failure
  /** Where the object stands in the repository. */
  readonly source?: string
  /** Of the live object, when it was written. */
  readonly uid?: string
  /** Skipped for now only: it stays ours as it is, and is tried again. */
  readonly undone?: true
  /** It waits for what is Degraded, or for what does so. */
  readonly isStuck?: true
}

export const entriesOf = (entries: readonly Entry[], ...changes: Change[]): Entry[] =>
  entries.filter(({ change }) => changes.includes(change))

/** As people say it, with the place in the repository. The server's words are a sentence by themselves, ours the rest of one about the object. */
export function sayEntry({ id, why = '', source, failure }: Entry): string {
  const about = `${sayId(id)}${source ? ` (${source})` : ''}`
  if (why === '') return about
  return `${about}${failure?.cause === undefined ? '' : ':'} ${why}`.replace(/\.$/, '')
}

/** The first few of them, and how many more there are. */
export function sayEntries(entries: readonly Entry[], most = 3): string {
  const said = entries.slice(0, most).map(sayEntry).join('; ')
  return entries.length > most ? `${said}; and ${entries.length - most} more` : said
}

/** A failure about an object as users may read it: what the server says about a Secret may quote the Secret. */
export function sentenceAbout(id: ObjectId, failure: Failure): string {
  if (failure.code === 'internal') return 'unexpected internal error; the log says more'
  // A failure without a cause is in our own words.
  if (id.kind === 'Secret' && failure.cause !== undefined)
    return withRemedy(
      missingRight(failure) ?? `the API server refused it (${failureReason(failure)})${fieldsOf(failure)}`,
      failure,
    )
  return beginningOf(withRemedy(bare(failure), failure), 1000)
}

/** The authorizer's wording is fixed and knows no content: who may not do what. An admission's refusal may quote the object. */
function missingRight({ code, message }: Failure): string | undefined {
  const right =
    code === 'forbidden'
      ? /^User "[^"\s]+" cannot [a-z]+ resource "secrets"[a-zA-Z0-9 "/.-]*$/.exec(message.slice(message.lastIndexOf('User "')))
      : null
  return right?.[0]
}

/** Remedies are our own words: there is nothing of the object in them. */
function withRemedy(text: string, failure: Failure): string {
  const remedy = failure.remedy ?? howToGive(failure)
  return remedy ? `${text}. ${remedy}` : text
}

const SERVICE_ACCOUNT =
  /User "system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)" cannot [a-z]+ resource "([a-z0-9/-]+)" in API group "([a-z0-9.-]*)" (?:in the namespace "([a-z0-9-]+)"|at the cluster scope)/

/** Groups of which the ClusterRole `edit` has almost everything. */
const EDITED = ['', 'apps', 'autoscaling', 'batch', 'networking.k8s.io', 'policy']
const NOT_EDITED = ['limitranges', 'namespaces', 'resourcequotas']

/** How a service account gets the right that the authorizer misses. */
function howToGive({ code, message }: Failure): string | undefined {
  const [, home = '', name = '', resource = '', group = '', namespace] =
    (code === 'forbidden' && SERVICE_ACCOUNT.exec(message)) || []
  if (name === '') return undefined
  if (namespace === undefined) return 'Give it a ClusterRole with that right, or leave the object out'
  const role = group === 'rbac.authorization.k8s.io' ? 'admin' : 'edit'
  if (role === 'edit' && (!EDITED.includes(group) || NOT_EDITED.includes(resource)))
    return `Give it a Role with that right in namespace ${namespace}, or leave the object out`
  return `Give it that right, for example with: kubectl create rolebinding ${name}-deploys -n ${namespace} --clusterrole=${role} --serviceaccount=${home}:${name}`
}

const fieldsOf = (failure: Failure): string => {
  const fields = causesOf(failure).map(({ field }) => field)
  return fields.length > 0 ? `: ${fields.join(', ')}` : ''
}

/** The message without the name of the object in front. */
export const bare = ({ message, object }: Failure): string => message.replace(`${object}: `, '')
