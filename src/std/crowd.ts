import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createTally } from './tally.ts'

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
  const here = createTally()
  return {
    get size() {
      return here.sum
    },
    enter(address) {
      const network = networkOf(address)
      const others = here.of(network)
      const refusal = here.sum >= room.connections ? 'full' : others >= room.connectionsPerAddress ? 'address-full' : undefined
      if (refusal === undefined) here.add(network, 1)
      return refusal
    },
    leave(address) {
      here.add(networkOf(address), -1)
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
