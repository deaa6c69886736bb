import { createMetrics, serveOperations } from '../adapters/http/index.ts'
import { connect } from '../adapters/kube/index.ts'
import { type Clock, createLog, Failure, hours, type Log, pause, seconds, systemClock } from '../std/index.ts'
import type { CertificatesConfig } from './config.ts'
import { type CertificateWish, type KeptSecret, keepCertificates, keepSharedSecret, type Place } from './keep.ts'

/** Where the program writes its log lines, and whom it tells when it is up. */
export interface CertificatesSurroundings {
  log: { write(line: string): unknown }
  /** Called once, with the address of the operations listener. */
  up?: (address: string) => void
  clock?: Clock
}

/** Nothing is due sooner than in weeks. What is missing meanwhile is what somebody has taken away. */
const LOOK = hours(1)
const TRY_AGAIN = seconds(5)

/** Runs until the signal aborts. An API server that is away is waited for. */
export async function start(
  config: CertificatesConfig,
  signal: AbortSignal,
  { log: out, up, clock = systemClock }: CertificatesSurroundings,
): Promise<void> {
  const log = createLog(config.logLevel, out).with({ program: 'certificates' })
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock })
  let trouble: string | undefined = 'it has not looked yet'
  const ready = () => trouble
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  up?.(operations.address)
  log.info('certificates started', { server: kube.server, operations: operations.address, namespace: config.namespace })
  const place: Place = { kube, namespace: config.namespace, clock }
  try {
    while (!signal.aborted) {
      trouble = await keepAll(place, config, log)
      await pause(clock, trouble === undefined ? LOOK : TRY_AGAIN, signal)
    }
  } finally {
    await operations.stop()
    await kube.close()
    log.info('certificates stopped')
  }
}

/** Says what was in its way. */
async function keepAll(place: Place, config: CertificatesConfig, log: Log): Promise<string | undefined> {
  try {
    const kept = await keepCertificates(place, wishesOf(config))
    for (const secret of [...kept, await keepSharedSecret(place, 'kas-private-api')]) say(secret, log)
    return undefined
  } catch (thrown) {
    const failure = Failure.from(thrown)
    log.warn('The certificates could not be looked after', { error: failure })
    return failure.message
  }
}

function say({ secret, what, validUntil }: KeptSecret, log: Log): void {
  const about = { secret, ...(validUntil && { validUntil: validUntil.toISOString() }) }
  if (what === 'kept') log.debug('A Secret is as it should be', about)
  else if (what === 'foreign') log.info('A certificate is looked after by somebody else', about)
  else log.info(`A Secret was ${what}`, about)
}

function wishesOf({ namespace, kasNames, proxyNames }: CertificatesConfig): CertificateWish[] {
  const service = `kas.${namespace}.svc`
  const kas = [service, `${service}.cluster.local`, `kas.${namespace}`, 'kas', `kas-peers.${namespace}.svc`] as const
  const [first, ...more] = proxyNames
  return [
    { secret: 'kas-tls', names: [...kas, ...kasNames] },
    ...(first === undefined ? [] : [{ secret: 'berth-proxy-tls', names: [first, ...more] } satisfies CertificateWish]),
  ]
}
