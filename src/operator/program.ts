import { randomUUID } from 'node:crypto'
import { readOptional } from '../adapters/files/index.ts'
import { createObjectStream } from '../adapters/grpc/index.ts'
import { createMetrics, serveOperations } from '../adapters/http/index.ts'
import { chargeSpaces, connect, createCaches, createEventRecorder, waitingFor } from '../adapters/kube/index.ts'
import { openTracer } from '../adapters/traces/index.ts'
import { OWN_KINDS, tenantRoles } from '../api/index.ts'
import {
  type ControllerContext,
  leaderMeter,
  leadInTurns,
  loopMeter,
  requestMeter,
  requireKinds,
  runControllers,
} from '../engines/controller/index.ts'
import { createLog, failureReason, type Log, sayFailure, systemClock } from '../std/index.ts'
import { countObjects } from './census.ts'
import type { OperatorConfig } from './config.ts'
import { type ControllerMeans, controllersOf } from './controllers.ts'
import { gitopsMeter, type Source } from './gitops-deployment/index.ts'
import { kasToken } from './kas-token.ts'
import { targetMeter } from './workspace/index.ts'

/** Who holds it leads. */
const LEASE = 'berth-operator'
/** For whom tokens are issued that kas is shown. */
const AUDIENCE = 'berth-kas'

/** Where the program writes its log lines, and whom it tells when it is up. */
export interface OperatorSurroundings {
  log: { write(line: string): unknown }
  /** Of this build. */
  version?: string
  /** Called once, with the address of the operations listener. */
  up?: (address: string) => void
}

/**
 * Runs the operator until the signal aborts. Every replica keeps its caches warm; the one that holds the Lease acts.
 * A lost API server or Lease is waited for: the process does not end by itself.
 */
export async function start(config: OperatorConfig, signal: AbortSignal, surroundings: OperatorSurroundings): Promise<void> {
  const clock = systemClock
  const { version } = surroundings
  const log = createLog(config.logLevel, surroundings.log).with({ program: 'operator' })
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  const meter = loopMeter(metrics)
  const account = { namespace: config.leaseNamespace, name: 'berth-operator' }
  const token = kasToken({ kube, clock, account, audience: AUDIENCE })
  const [ca, gitCa] = [await readOptional(config.kasCa, '--kas-ca'), await readOptional(config.gitCa, '--git-ca')]
  const authorities = { kasCa: ca?.toString(), gitCa: gitCa?.toString() }
  const source = createObjectStream({ address: ca ? `grpcs://${config.kas}` : config.kas, token, ca, clock })
  const agents = config.kasApi === undefined ? undefined : { url: config.kasApi, token, ca, audience: AUDIENCE }
  const tracer = await openTracer(config.otlpEndpoint, { service: 'berth-operator', version, instance: config.identity, log })
  const meters = { meter: gitopsMeter(metrics), targets: targetMeter(metrics), tracer }
  const open = () => prepareControllers({ config, kube, log, source, means: { agents, authorities, ...meters } })
  let turn = open()
  countObjects(metrics, () => turn.caches)
  const ready = () => waitingFor(turn.caches)
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  surroundings.up?.(operations.address)
  const identity = config.identity ?? `operator-${randomUUID().slice(0, 8)}`
  const about = { server: kube.server, operations: operations.address, namespace: config.namespace ?? 'all' }
  log.info('operator started', { ...about, ...(config.leaderElection && { identity }) })

  try {
    await requireKinds(OWN_KINDS, { kube, clock, log, version, signal })
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
    const meterLead = leaderMeter(metrics)
    if (config.leaderElection) {
      await leadInTurns(
        {
          ...{ kube, clock, log, identity, version },
          lease: { name: LEASE, namespace: config.leaseNamespace },
          meter: meterLead,
        },
        work,
        signal,
      )
    } else {
      meterLead(LEASE, true)
      await work(signal)
    }
  } finally {
    await turn.events.flush()
    await turn.caches.stop()
    source.close()
    await tracer.stop()
    await operations.stop()
    await kube.close()
  }
  log.info('operator stopped')
}

interface ControllerInputs {
  config: OperatorConfig
  kube: ControllerContext['kube']
  log: Log
  source: Source
  means: ControllerMeans
}

function prepareControllers({ config, kube, log, source, means }: ControllerInputs) {
  const clock = systemClock
  const caches = createCaches({ kube, clock, log, scope: config.namespace, tenantRole: tenantRoles.operator })
  chargeSpaces(caches)
  const events = createEventRecorder({ kube, clock, log, reporter: 'berth-operator' })
  caches.onShortage((object, why) =>
    events.record(object, { type: 'Warning', reason: failureReason(why), message: sayFailure(why) }),
  )
  const context: ControllerContext = { kube: caches.kube, caches, events, clock, log }
  return { ...context, controllers: controllersOf(context, config, source, means) }
}
