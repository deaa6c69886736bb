import { lookup } from 'node:dns/promises'

/** Why tests with a name of several addresses are left out; `undefined` where `localhost` is one, as on most machines. */
export async function lacksTwoAddresses(): Promise<string | undefined> {
  const found = await lookup('localhost', { all: true })
  const isBoth = ['127.0.0.1', '::1'].every((wanted) => found.some(({ address }) => address === wanted))
  return isBoth ? undefined : 'localhost does not stand for 127.0.0.1 and ::1 on this machine'
}
