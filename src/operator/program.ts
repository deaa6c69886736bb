import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createObjectStream } from '../adapters/grpc/index.ts'
import { createMetrics, serveOperations } from '../adapters/http/index.ts'
import { connect, createCaches, createEvents } from '../adapters/kube/index.ts'
import { leadInTurns, runControllers, type Workshop } from '../engines/controller/index.ts'
import { createLog, type Log, systemClock } from '../std/index.ts'
import type { Config } from './config.ts'
import { controllersOf } from './controllers.ts'
import type { GitOpsMeter, Source } from './gitops-deployment/index.ts'
import { kasToken } from './kas-token.ts'
import { gitopsMeter, loopMeter, requestMeter } from './observability.ts'
import type { AgentAccess } from './space-request/index.ts'

/** For whom tokens are issued that kas is shown. */
const AUDIENCE = 'berth-kas'

/** Where the program writes its log lines, and whom it tells when it is up. */
export interface Surroundings {
  log: { write(line: string): unknown }
  /** Called once, with the address of the operations listener. */
  up?: (address: string) => void
}

/**
 * Runs the operator until the signal aborts. Every replica keeps its caches warm; the one that holds the Lease acts.
 * A lost API server or Lease is waited for: the process does not end by itself.
 */
export async function start(config: Config, signal: AbortSignal, surroundings: Surroundings): Promise<void> {
  const clock = systemClock
  const log = createLog(config.logLevel, surroundings.log).with({ program: 'operator' })
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  const meter = loopMeter(metrics)
  const account = { namespace: config.leaseNamespace, name: 'berth-operator' }
  const token = kasToken({ kube, clock, account, audience: AUDIENCE })
  const ca = config.kasCa === undefined ? undefined : readFileSync(config.kasCa)
  const source = createObjectStream({ address: ca ? `grpcs://${config.kas}` : config.kas, token, ca, clock })
  const agents = config.kasApi === undefined ? undefined : { url: config.kasApi, token, ca, audience: AUDIENCE }
  const gitops = gitopsMeter(metrics)
  const open = () => openShop({ config, kube, log, source, agents, meter: gitops })
  let turn = open()
  const ready = () => {
    const [first] = turn.caches.waitingFor()
    return first && `waiting for ${first.kind}: ${first.why}`
  }
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  surroundings.up?.(operations.address)
  log.info('operator started', { server: kube.server, operations: operations.address, namespace: config.namespace ?? 'all' })

  let isFirst = true
  const work = async (term: AbortSignal) => {
    // Controllers keep notes of their term; a new term begins with new ones.
    if (!isFirst) {
      await turn.caches.stop()
      turn = open()
    }
    await runControllers(turn, turn.controllers, term, meter)
    isFirst = false
  }
  if (config.leaderElection) {
    const identity = config.identity ?? `operator-${randomUUID().slice(0, 8)}`
    await leadInTurns(
      { kube, clock, log, lease: { name: 'berth-operator', namespace: config.leaseNamespace }, identity },
      work,
      signal,
    )
  } else await work(signal)

  await turn.events.flush()
  await turn.caches.stop()
  source.close()
  await operations.stop()
  await kube.close()
  log.info('operator stopped')
}

interface Means {
  config: Config
  kube: Workshop['kube']
  log: Log
  source: Source
  agents: AgentAccess | undefined
  meter: GitOpsMeter
}

function openShop({ config, kube, log, source, agents, meter }: Means) {
  const clock = systemClock
  const caches = createCaches({ kube, clock, log, scope: config.namespace })
  const workshop: Workshop = {
    kube: caches.kube,
    caches,
    events: createEvents({ kube, clock, log, reporter: 'berth-operator' }),
    clock,
    log,
  }
  return { ...workshop, controllers: controllersOf(workshop, config, source, { agents, meter }) }
}
