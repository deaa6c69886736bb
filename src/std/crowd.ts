import { isIPv6 } from 'node:net'

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
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const groups = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const [before = [], after = []] = groups
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
