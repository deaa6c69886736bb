import type { HostKey } from '../../adapters/ssh/index.ts'

/** How people find the host, and know it by. */
export interface SshAddress {
  readonly host: string
  readonly port: number
}

/** What `knownHost` has said is said no more. */
export const NO_KNOWN_HOST: Readonly<Record<string, null>> = { hostKey: null, host: null, port: null, known_hosts: null }

/** The public half of the host key, and where the address is known the line for known_hosts. */
export function knownHost({ line: hostKey }: HostKey, address: SshAddress | undefined): Record<string, string | null> {
  if (!address) return { ...NO_KNOWN_HOST, hostKey }
  const { host, port } = address
  const name = port === 22 ? host : `[${host}]:${port}`
  return { hostKey, host, port: String(port), known_hosts: `${name} ${hostKey}\n` }
}
