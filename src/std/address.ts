import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The kind of an address decides whether a stranger may choose it. `forbidden` is never fetched from, whatever is configured. */
export type AddressKind = 'public' | 'private' | 'loopback' | 'forbidden'

/**
 * Networks by kind; the first that has the address counts. Forbidden: link-local, where clouds keep the credentials of machines,
 * and the places outside of it where some do; multicast, reserved, and addresses that name no host.
 */
const NETWORKS: readonly [kind: AddressKind, networks: string][] = [
  ['loopback', '127.0.0.0/8 ::1/128'],
  [
    'forbidden',
    '0.0.0.0/8 169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 192.0.0.0/24 192.0.2.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 fe80::/10 fec0::/10 fd00:ec2::/32 fd20:ce::254/128 ff00::/8',
  ],
  ['private', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 198.18.0.0/15 fc00::/7 64:ff9b:1::/48'],
]

/** Prefixes of IPv6 addresses that carry an IPv4 address: it is what is reached. The number says where it begins, in bits. */
const CARRIERS: readonly [network: string, at: number][] = [
  ['::ffff:0:0/96', 96],
  ['::ffff:0:0:0/96', 96],
  ['64:ff9b::/96', 96],
  ['2002::/16', 16],
  ['::/96', 96],
]

const KINDS = NETWORKS.map(([kind, networks]) => ({ kind, list: listOf(networks) }))
const CARRIED = CARRIERS.map(([network, at]) => ({ at, list: listOf(network) }))

/** A text that is no address at all is forbidden. */
export function kindOfAddress(address: string): AddressKind {
  const bare = address.replace(/%.*/s, '')
  const family = isIPv4(bare) ? 'ipv4' : isIPv6(bare) ? 'ipv6' : undefined
  if (!family) return 'forbidden'
  const found = KINDS.find(({ list }) => list.check(bare, family))
  if (found) return found.kind
  const carrier = family === 'ipv6' ? CARRIED.find(({ list }) => list.check(bare, family)) : undefined
  return carrier ? kindOfAddress(carriedBy(bare, carrier.at)) : 'public'
}

/** An IPv4 address as such, where an IPv6 socket shows it in its own way. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '')

/** A stranger may choose addresses of the internet, or of the own machines and networks as well. Never forbidden ones. */
export type AddressRule = 'public' | 'own-too'

const isRefused = (address: string, rule: AddressRule): boolean => {
  const kind = kindOfAddress(address)
  return rule === 'public' ? kind !== 'public' : kind === 'forbidden'
}

/** The kind of the host of a URL, if it is an address and no name. */
export function kindOfHost({ hostname }: URL): AddressKind | undefined {
  const host = addressIn(hostname)
  return isIPv4(host) || isIPv6(host) ? kindOfAddress(host) : undefined
}

/** True where the host of a URL is an address that the rule refuses. Names are judged by `guardedLookup`. */
export const isRefusedHost = (url: URL, rule: AddressRule): boolean =>
  kindOfHost(url) !== undefined && isRefused(addressIn(url.hostname), rule)

/** `[::1]` of a URL is `::1`. The URL parser has already turned 0x7f.1, 2130706433 and 0177.0.0.1 into 127.0.0.1. */
const addressIn = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/** The same look-up, except that a name of which one address is refused fails with `refusal`. */
export const guardedLookup =
  (lookup: LookupFunction, rule: AddressRule, refusal: () => Error): LookupFunction =>
  (hostname, options, answer) =>
    lookup(hostname, options, (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address)
      // One refused address is enough: which of them is connected to is the name server's choice, and it is the stranger's.
      if (!error && addresses.some((address) => isRefused(address, rule))) answer(refusal(), [])
      else answer(error, found, family)
    })

function listOf(networks: string): BlockList {
  const list = new BlockList()
  for (const network of networks.split(' ')) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

/** The IPv4 address that stands in these 32 bits. */
const carriedBy = (address: string, at: number): string =>
  ipaddr.IPv6.parse(address)
    .toByteArray()
    .slice(at / 8, at / 8 + 4)
    .join('.')

/** As certificates have names: an address, or a host in small letters, in which `*` may stand for the whole first label. */
export const isHostOrAddress = (name: string): boolean => isIP(name) !== 0 || (name.length <= 253 && HOST.test(name))

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/
