import { BlockList, isIP } from 'node:net'

/** Loopback, link-local (where clouds serve metadata and credentials) and unspecified addresses. */
function localAddresses(): BlockList {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  list.addSubnet('169.254.0.0', 16, 'ipv4')
  list.addSubnet('0.0.0.0', 8, 'ipv4')
  list.addAddress('::1', 'ipv6')
  list.addAddress('::', 'ipv6')
  list.addSubnet('fe80::', 10, 'ipv6')
  list.addSubnet('fd00:ec2::', 32, 'ipv6')
  return list
}

const LOCAL = localAddresses()

/** An address, or a name that stands for one by definition, that leads to the machine itself or to its cloud's metadata. */
export function isLocal(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost') || host === 'metadata.google.internal') return true
  const version = isIP(host)
  return version !== 0 && LOCAL.check(host, version === 4 ? 'ipv4' : 'ipv6')
}
