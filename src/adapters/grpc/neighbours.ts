import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { Failure } from '../../std/index.ts'
import { parseAddress } from './address.ts'

/** The addresses that the name in an address stands for now, each as an address of its own: a headless Service has one for each pod. */
export async function addressesBehind(address: string): Promise<string[]> {
  const { scheme, host, port } = parseAddress(address)
  try {
    const found = await lookup(host, { all: true, order: 'ipv4first' })
    return [...new Set(found.map((one) => `${scheme}://${one.family === 6 ? `[${one.address}]` : one.address}:${port}`))]
  } catch (cause) {
    throw new Failure('unavailable', `the name ${host} cannot be looked up`, { cause })
  }
}

/** Says whether an address leads to the listener on this machine at `own`, `host:port`. */
export function isOwnAddress(address: string, own: string): boolean {
  const { host, port } = parseAddress(address)
  const listening = parseAddress(own)
  if (port !== listening.port) return false
  const here = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address))
  return listening.host === host || (isEverywhere(listening.host) && here.includes(host))
}

const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::'
