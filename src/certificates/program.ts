import { createMetrics, serveOperations } from '../adapters/http/index.ts'
import { connect } from '../adapters/kube/index.ts'
import { type Clock, createLog, Failure, type Log, minutes, pause, seconds, systemClock } from '../std/index.ts'
import { type CertificatesConfig, OURSELVES } from './config.ts'
import {
  type KeptSecret,
  keepAuthority,
  keepCertificate,
  keepSharedSecret,
  leaveCertificate,
  type SecretAccess,
  type WantedCertificate,
} from './keep.ts'
import { expirationMeter } from './meters.ts'

/** Where the program writes its log lines, and whom it tells when it is up. */
export interface CertificatesSurroundings {
  log: { write(line: string): unknown }
  /** Called once, with the address of the operations listener. */
  up?: (address: string) => void
  clock?: Clock
}

/** Nothing is due sooner than in weeks. But what somebody has taken away is missed by programs that start. */
const LOOK = minutes(1)
const TRY_AGAIN = seconds(10)

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
  const noteExpiration = expirationMeter(metrics)
  const say = (kept: KeptSecret) => {
    noteExpiration(kept)
    sayKept(kept, log)
  }
  const access: SecretAccess = { kube, namespace: config.namespace, clock }
  try {
    while (!signal.aborted) {
      const troubles = await keepAll(access, config, say)
      const told: string | undefined = trouble
      trouble = troubles.map(({ message }) => message).join('; ') || undefined
      // What goes on for long is told once.
      if (trouble !== told) for (const error of troubles) log.warn('A Secret could not be looked after', { error })
      await pause(clock, trouble === undefined ? LOOK : TRY_AGAIN, signal)
    }
  } finally {
    await operations.stop()
    await kube.close()
    log.info('certificates stopped')
  }
}

/** Each Secret by itself: what is wrong with one keeps no other from being renewed. Gives what was in the way. */
async function keepAll(access: SecretAccess, config: CertificatesConfig, say: (kept: KeptSecret) => void): Promise<Failure[]> {
  const troubles: Failure[] = []
  const keep = async <T extends KeptSecret>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const kept = await work()
      say(kept)
      return kept
    } catch (thrown) {
      troubles.push(Failure.from(thrown))
      return undefined
    }
  }
  const found = await keep(() => keepAuthority(access))
  for (const { issuer, ...wanted } of wantedBy(config)) {
    if (issuer !== OURSELVES) await keep(() => leaveCertificate(access, wanted, issuer))
    else if (found) await keep(() => keepCertificate(access, wanted, found.authority))
  }
  await keep(() => keepSharedSecret(access, 'kas-private-api'))
  return troubles
}

function sayKept({ secret, what, validUntil }: KeptSecret, log: Log): void {
  const about = { secret, ...(validUntil && { validUntil: validUntil.toISOString() }) }
  if (what === 'kept') log.debug('A Secret is as it should be', about)
  else if (what === 'foreign') log.info('A certificate is looked after by somebody else', about)
  else log.info(`A Secret was ${what}`, about)
}

function wantedBy(config: CertificatesConfig): (WantedCertificate & { issuer: string })[] {
  const { namespace, kasNames, proxyNames, kasIssuer, proxyIssuer } = config
  const service = `kas.${namespace}.svc`
  const kas = [service, `${service}.cluster.local`, `kas.${namespace}`, 'kas', `kas-peers.${namespace}.svc`]
  const of = (secret: string, issuer: string, given: readonly string[], keys: readonly string[]) => {
    const [first, ...more] = new Set(given)
    return first === undefined ? [] : [{ secret, issuer, names: [first, ...more] as const, keys }]
  }
  return [
    ...of('kas-tls', kasIssuer, [...kas, ...kasNames], ['tls.crt', 'tls.key', 'ca.crt']),
    ...of('berth-proxy-tls', proxyIssuer, proxyNames, ['tls.crt', 'tls.key']),
  ]
}
