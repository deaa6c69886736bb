import type { Server } from 'node:tls'
import type { Secret } from './secret.ts'

/** A certificate, and the key to it, in PEM. */
export interface Keys {
  certificate: Uint8Array
  key: Secret<Uint8Array>
}

/** The certificate that a listener shows; it is renewed while programs run. */
export interface ListenerKeys extends Keys {
  /** Calls with the new ones each time. */
  onRenewal?: (use: (keys: Keys) => void) => void
}

/** As Node's TLS servers want them. */
export const pemOf = ({ certificate, key }: Keys) => ({
  cert: Buffer.from(certificate),
  key: Buffer.from(key.reveal()),
  minVersion: 'TLSv1.2' as const,
})

/** The server, which shows renewed certificates to new connections; those that are open go on. */
export function renewing<S extends Pick<Server, 'setSecureContext'>>(server: S, keys: ListenerKeys): S {
  keys.onRenewal?.((renewed) => server.setSecureContext(pemOf(renewed)))
  return server
}
