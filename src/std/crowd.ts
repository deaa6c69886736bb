import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** How many may be here at once: in all, and of one network. */
export interface Room {
  connections: number
  connectionsPerAddress: number
}

export interface Crowd {
  readonly size: number
  /** Lets one more in; what is wrong otherwise. */
  enter(address: string): 'full' | 'address-full' | undefined
  leave(address: string): void
}

/** IPv6 gives every customer 2^64 addresses, so there a network is counted as one. */
export function createCrowd(room: Room): Crowd {
  const here = new Map<string, number>()
  let size = 0
  return {
    get size() {
      return size
    },
    enter(address) {
      const network = networkOf(address)
      const others = here.get(network) ?? 0
      const refusal = size >= room.connections ? 'full' : others >= room.connectionsPerAddress ? 'address-full' : undefined
      if (refusal === undefined) {
        here.set(network, others + 1)
        size++
      }
      return refusal
    },
    leave(address) {
      const network = networkOf(address)
      const rest = (here.get(network) ?? 0) - 1
      if (rest > 0) here.set(network, rest)
      else here.delete(network)
      size--
    },
  }
}

/** An IPv4 address, also where it is written as IPv6, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  // The package refuses interfaces such as br-lan.
  const plain = ipaddr.process(address.replace(/%.*/s, ''))
  if (!(plain instanceof ipaddr.IPv6)) return plain.toString()
  return plain.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
