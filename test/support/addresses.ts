import { lookup } from 'node:dns/promises'
import type { AddressInfo } from 'node:net'
import { Failure } from '../../src/std/index.ts'

/** Why tests with a name of several addresses are left out; `undefined` where `localhost` is one, as on most machines. */
export async function lacksTwoAddresses(): Promise<string | undefined> {
  const found = await lookup('localhost', { all: true })
  const isBoth = ['127.0.0.1', '::1'].every((wanted) => found.some(({ address }) => address === wanted))
  return isBoth ? undefined : 'localhost does not stand for 127.0.0.1 and ::1 on this machine'
}

/** Of a server that listens on TCP. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const at = server.address()
  if (at === null || typeof at === 'string') throw new Failure('internal', 'the server does not listen on a port')
  return at.port
}
