import type { KeyPair } from '../../adapters/ssh/index.ts'
import { hours } from '../../std/index.ts'

/** How people find the host, and know it by. */
export interface SshAddress {
  readonly host: string
  readonly port: number
}

/** What `knownHost` has said is said no more. */
export const NO_KNOWN_HOST: Readonly<Record<string, null>> = {
  hostKey: null,
  host: null,
  port: null,
  known_hosts: null,
  certificateHours: null,
}

/** The public half of the host key, and where the address is known the line for known_hosts, and how long certificates count at most. */
export function knownHost(
  { line: hostKey }: KeyPair,
  address: SshAddress | undefined,
  certificatesFor?: number,
): Record<string, string | null> {
  if (!address) return { ...NO_KNOWN_HOST, hostKey }
  const { host, port } = address
  const name = port === 22 ? host : `[${host}]:${port}`
  const certificateHours = certificatesFor === undefined ? null : String(certificatesFor / hours(1))
  return { hostKey, host, port: String(port), known_hosts: `${name} ${hostKey}\n`, certificateHours }
}
