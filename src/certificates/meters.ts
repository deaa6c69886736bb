import type { Metrics } from '../adapters/http/index.ts'
import type { KeptSecret } from './keep.ts'

/** Notes how long the certificates of Secrets last. */
export function expirationMeter(metrics: Metrics): (kept: KeptSecret) => void {
  const expiration = metrics.gauge({
    name: 'berth_certificate_expiration_timestamp_seconds',
    help: 'When the certificate of a Secret ends',
    labels: ['secret'],
  })
  return ({ secret, validUntil }) => {
    if (validUntil) expiration.set(validUntil.getTime() / 1000, { secret })
  }
}
