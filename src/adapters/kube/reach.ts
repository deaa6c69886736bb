import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Failure } from '../../std/index.ts'

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
      if (url.origin !== own && isLocal(bare(url.hostname))) throw refusal(url, subject)
    },
    lookupFor(url) {
      if (url.origin === own) return
      return (hostname, options, answer) =>
        lookup(hostname, options, (error, found, family) => {
          const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address)
          // One refused address is enough: which of them is connected to is the name server's choice, and it is the tenant's.
          if (!error && addresses.some(isLocal)) answer(refusal(url, subject), [])
          else answer(error, found, family)
        })
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

/** `[::1]` of a URL is `::1`. The URL parser has already turned 0x7f.1, 2130706433 and 0177.0.0.1 into 127.0.0.1. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/**
 * IPv4 networks that are no part of the internet (RFC 6890): this host, private, carrier's (a cloud's metadata is at
 * 100.100.100.200), loopback, link-local (metadata at 169.254.169.254), protocol assignments (metadata at 192.0.0.192),
 * private, benchmarks, multicast, reserved and broadcast.
 */
const LOCAL_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/** Unique local (fd00:ec2::254 is a cloud's metadata), link-local, site-local, multicast; unspecified and loopback are in ::/104. */
const LOCAL_V6 = [
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const

/** IPv6 addresses that carry an IPv4 one: compatible, translated (RFC 2765) and NAT64 (RFC 6052). Node itself looks into ::ffff:0:0/96. */
const CARRIERS = ['::', '::ffff:0:', '64:ff9b::']

const LOCAL = localAddresses()

function localAddresses(): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of LOCAL_V6) list.addSubnet(network, prefix, 'ipv6')
  for (const [network, prefix] of LOCAL_V4) {
    list.addSubnet(network, prefix, 'ipv4')
    for (const carrier of CARRIERS) list.addSubnet(carrier + network, 96 + prefix, 'ipv6')
  }
  return list
}

/** Whether this is an address, and one of the machine itself, its networks or its cloud. */
function isLocal(address: string): boolean {
  const [host = ''] = address.split('%')
  const version = isIP(host)
  return version !== 0 && LOCAL.check(host, version === 4 ? 'ipv4' : 'ipv6')
}
