import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createTally } from './tally.ts'

/** How many connections there may be at once: in all, and of one network. */
export interface ConnectionLimits {
  connections: number
  connectionsPerAddress: number
}

/** IPv6 gives every customer 2^64 addresses, so there a network is counted as one. */
export function createConnectionCounter(limits: ConnectionLimits) {
  const open = createTally()
  return {
    get size() {
      return open.sum
    },
    /** Lets one more in, or says which limit is reached. */
    enter(address: string): 'full' | 'address-full' | undefined {
      const network = networkOf(address)
      if (open.sum >= limits.connections) return 'full'
      if (open.of(network) >= limits.connectionsPerAddress) return 'address-full'
      open.add(network, 1)
      return undefined
    },
    leave: (address: string) => void open.add(networkOf(address), -1),
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
