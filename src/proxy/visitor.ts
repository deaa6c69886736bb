import { BlockList, isIP } from 'node:net'
import type { WebRequest } from '../adapters/http/index.ts'
import { plainAddress, wrongSetting } from '../std/index.ts'

/** Tells whether an address is in one of the ranges that the flag names. Throws when one is no range. */
export function addressesIn(ranges: readonly string[], flag: string): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [, address = '', bits] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(range) ?? []
    const version = isIP(address)
    const width = version === 6 ? 128 : 32
    const length = bits === undefined ? width : Number(bits)
    if (version === 0 || length > width) throw wrongSetting(flag, range, 'Write ranges such as 10.0.0.0/8, with commas between.')
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
  }
  return (given) => {
    const address = plainAddress(given)
    return isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * Finds the address from which a request comes: of those in X-Forwarded-For the last that no trusted proxy has, for everything before it may be
 * a stranger's invention. Without trusted proxies it is the other side of the connection.
 */
export function createVisitorOf(isTrusted: (address: string) => boolean): (request: WebRequest) => string {
  return ({ socket, headers }) => {
    const peer = plainAddress(socket.remoteAddress ?? '')
    if (!isTrusted(peer)) return peer
    const named = [headers['x-forwarded-for'] ?? []]
      .flat()
      .join(',')
      .split(',')
      .map((each) => plainAddress(each.trim()))
    let found = peer
    for (const address of named.reverse()) {
      if (isIP(address) === 0) return found
      found = address
      if (!isTrusted(address)) return found
    }
    return found
  }
}
