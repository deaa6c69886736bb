import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Failure, guardedLookup, isLocalHost } from '../../std/index.ts'

/** Where clients made from other people's kubeconfigs may lead. One value, carried from the operator's configuration. */
export interface Reach {
  /** Refuse addresses of the machine itself, its networks and its cloud. */
  refuseLocal: boolean
  /** This installation's own API as the platform engineers wrote it: allowed wherever it is. */
  own?: string | undefined
}

/** Whose URL it is, for the refusal: `GitOpsDeploymentManagedEnvironment team-a/dev`, `spec.apiURL`. */
export interface Subject {
  object?: string | undefined
  field: string
}

/** Judges where a connection leads: the address that is connected to, not the text that somebody wrote. */
export interface Gate {
  /** Throws `invalid`, reason UnsupportedAPIURL, when the URL's host is an address that is refused. */
  judge(url: URL): void
  /** For the connections to this URL: names become addresses, and a name with one refused address is refused as a whole. */
  lookupFor(url: URL): LookupFunction | undefined
}

const OPEN: Gate = { judge: () => undefined, lookupFor: () => undefined }

export function createGate(reach: Reach, subject: Subject, lookup: LookupFunction = systemLookup): Gate {
  if (!reach.refuseLocal) return OPEN
  const own = reach.own !== undefined && URL.canParse(reach.own) ? new URL(reach.own).origin : undefined
  return {
    judge(url) {
      if (url.origin !== own && isLocalHost(url)) throw refusal(url, subject)
    },
    lookupFor(url) {
      return url.origin === own ? undefined : guardedLookup(lookup, () => refusal(url, subject))
    },
  }
}

/** What it resolves to is not told: the name servers inside may know more than the tenant is to know. */
const refusal = ({ origin }: URL, { object, field }: Subject): Failure =>
  new Failure('invalid', `${field} "${origin}" leads to an address of this installation's own machines or networks`, {
    reason: 'UnsupportedAPIURL',
    remedy: 'Use an address that the cluster has for others, or ask the platform engineers to allow local targets',
    ...(object !== undefined && { object }),
  })
