import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { type AddressRule, Failure, guardedLookup, isRefusedHost } from '../../std/index.ts'
import type { Answers } from './answers.ts'
import type { Memory } from './memory.ts'

/** Limits where clients made from other people's kubeconfigs may lead, and how much they may hold. One value for a whole program. */
export interface Reach {
  /** Refuse addresses of the machine itself and of its networks. Those of its cloud, such as metadata, are refused always. */
  refuseLocal: boolean
  /** This installation's own API, and kas, as the platform engineers wrote them: allowed wherever they are, and quoted. */
  own?: string | readonly string[] | undefined
  /** For the answers to all of them; each client has its own without it. */
  answers?: Answers | undefined
  /** For the objects that their caches keep; each client's caches have their own without it. */
  memory?: Memory | undefined
}

/** Whose URL it is, for the refusal: `GitOpsDeploymentManagedEnvironment team-a/dev`, `spec.apiURL`. */
export interface UrlSubject {
  object?: string | undefined
  field: string
}

export type ConnectionGate = ReturnType<typeof createConnectionGate>

/** Judges where a connection leads: the address that is connected to, not the text that somebody wrote. */
export function createConnectionGate(reach: Reach, subject: UrlSubject, lookup: LookupFunction = systemLookup) {
  const rule: AddressRule = reach.refuseLocal ? 'public' : 'own-too'
  const own = [reach.own ?? []].flat().flatMap((url) => (URL.canParse(url) ? new URL(url).origin : []))
  const isOwn = (url: URL): boolean => own.includes(url.origin)
  return {
    /** Throws `invalid`, reason UnsupportedAPIURL, when the URL's host is an address that is refused. */
    judge(url: URL): void {
      if (!isOwn(url) && isRefusedHost(url, rule)) throw refusal(url, rule, subject)
    },
    /** For the connections to this URL: names become addresses, and a name with one refused address is refused as a whole. */
    lookupFor(url: URL): LookupFunction | undefined {
      return isOwn(url) ? undefined : guardedLookup(lookup, rule, () => refusal(url, rule, subject))
    },
    /** Says whether it is this installation's own. */
    isOwn,
  }
}

/** The addresses that it resolves to are not told: the name servers inside may know more than the tenant is to know. */
const refusal = ({ origin }: URL, rule: AddressRule, { object, field }: UrlSubject): Failure =>
  new Failure('invalid', `${field} "${origin}" leads to ${REFUSED[rule].what}`, {
    reason: 'UnsupportedAPIURL',
    remedy: `Use an address that the cluster has for others${REFUSED[rule].way}`,
    ...(object !== undefined && { object }),
  })

/** A switch opens the way to the own networks, and none to the rest. */
const REFUSED: Record<AddressRule, { what: string; way: string }> = {
  public: {
    what: "an address of this installation's own machines or networks",
    way: ', or ask the platform engineers to allow local targets',
  },
  'own-too': { what: 'a link-local, metadata or reserved address', way: '' },
}
