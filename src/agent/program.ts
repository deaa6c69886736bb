import { randomBytes } from 'node:crypto'
import { readOptional, tokenOf } from '../adapters/files/index.ts'
import { dial, type GrpcConnection, objectStreamOver } from '../adapters/grpc/index.ts'
import { createMetrics, serveOperations } from '../adapters/http/index.ts'
import { capabilitiesOf, connect, type Kube, openPassage } from '../adapters/kube/index.ts'
import { openTracer } from '../adapters/traces/index.ts'
import { leaderMeter, leadInTurns, requestMeter } from '../engines/controller/index.ts'
import { createTellSync, syncMeter } from '../engines/gitops/index.ts'
import { createFileReader, createRenderer } from '../engines/render/index.ts'
import { serveTunnels } from '../engines/tunnel/index.ts'
import { MAKE_REQUEST } from '../rpc/index.ts'
import {
  aborted,
  type Backoff,
  createLog,
  createYamlReader,
  Failure,
  type Log,
  type LogLevel,
  minutes,
  type ReadYaml,
  redactUrls,
  seconds,
  systemClock,
} from '../std/index.ts'
import type { AgentConfig } from './config.ts'
import { createSupervisor, type Renderers } from './gitops/index.ts'
import { createReporter, followConfiguration, register } from './kas/index.ts'
import { createKubernetesApi } from './kubernetes-api/index.ts'
import { createLeveledLog } from './log-level.ts'

/** The program writes its log lines there, and tells there that it is up. */
export interface AgentSurroundings {
  log: { write(line: string): unknown }
  /** Of this build. */
  version?: string
  /** Called once, with the address of the operations listener. */
  up?: (address: string) => void
  /** Waits between tries, where others than the agent's own are wanted. */
  paces?: { source?: Backoff; apply?: Backoff; lease?: { duration: number; renewWithin: number; retry: number } }
}

/** After what failed in the cluster; agentk's. */
const APPLY: Backoff = { base: seconds(10), max: minutes(1) }
/** Bytes; the agent's container has 512 MiB. */
const RENDER_MEMORY = 160 * 2 ** 20
/** The log writes all lines that it is given: the leveled log around it decides. */
const EVERYTHING: LogLevel = 'debug'

/**
 * Runs the agent until the signal aborts. All replicas keep the configuration; the one that holds the Lease acts. kas or the API
 * server may go away and come back: the last configuration stays in effect, and the process does not end by itself. Only where kas does
 * not know the token at the start it throws `unauthorized`, unless it is to wait.
 */
export async function start(config: AgentConfig, stopped: AbortSignal, surroundings: AgentSurroundings): Promise<void> {
  const refusal = new AbortController()
  const signal = AbortSignal.any([stopped, refusal.signal])
  const { version = 'v0.0.0', paces = {} } = surroundings
  const clock = systemClock
  const levels = createLeveledLog(createLog(EVERYTHING, surroundings.log).with({ program: 'agent' }), config.logLevel)
  const { log } = levels
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  const connection = await connectionTo(config, version)
  const { podNamespace, podName } = config
  const meta = { version, commitId: '', podNamespace, podName }
  const reports = createReporter({ connection, clock, log, podName })
  const yaml = createYamlReader()
  const tracer = await openTracer(config.otlpEndpoint, { service: 'berth-agent', version, instance: podName, log })
  const supervisor = createSupervisor({
    kube,
    clock,
    log,
    reports,
    home: podNamespace,
    source: { stream: objectStreamOver(connection, clock, true), backoff: paces.source, yaml },
    renderers: renderersOf(config, { kube, yaml, log }),
    meter: syncMeter(metrics),
    tellSync: createTellSync({ log, tracer }),
    backoff: paces.apply ?? APPLY,
  })
  const known = Promise.withResolvers<bigint>()
  const state = { isKnown: false, trouble: 'waiting for a configuration from kas' }
  const ready = () => (state.isKnown ? undefined : state.trouble)
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  surroundings.up?.(operations.address)
  log.info('agent started', { kas: redactUrls(config.kasAddress), server: kube.server, operations: operations.address })

  const lead = async () => {
    const agentId = await Promise.race([known.promise, aborted(signal)])
    if (agentId === undefined || signal.aborted) return
    const lease = { name: `agent-${agentId}-lock`, namespace: podNamespace }
    const work = async (term: AbortSignal) => {
      await Promise.all([supervisor.lead(term), reports.run(term)])
    }
    await leadInTurns({ kube, clock, log, lease, identity: podName, meter: leaderMeter(metrics), ...paces.lease }, work, signal)
  }
  const passage = openPassage({ kubeconfig: config.kubeconfig, context: config.context, clock })
  const services = new Map([[MAKE_REQUEST, createKubernetesApi({ passage, product: `berth-agent/${version}` })]])
  await Promise.all([
    followConfiguration(
      {
        connection,
        clock,
        log,
        reports,
        followers: [levels, supervisor],
        meta,
        backoff: paces.source,
        onKnown(agentId) {
          state.isKnown = true
          known.resolve(agentId)
        },
        onRefused: config.wait ? undefined : (failure) => refusal.abort(refusedToken(failure)),
        onTrouble(trouble) {
          state.trouble = `no configuration from kas yet: ${trouble}`
        },
      },
      signal,
    ),
    register({ connection, kube, clock, log, meta, podId: randomBytes(8).readBigUInt64BE() >> 1n }, signal),
    lead(),
    // Every replica answers, and from the start: who leads is of no matter to who asks.
    serveTunnels({ connection, services, clock, log, signal }),
  ])

  connection.close()
  await passage.close()
  await operations.stop()
  await tracer.stop()
  await kube.close()
  log.info('agent stopped')
  if (refusal.signal.aborted) throw refusal.signal.reason
}

const refusedToken = ({ message }: Failure) =>
  new Failure('unauthorized', `kas refuses the token: ${message}`, {
    remedy: 'Give it a token that `berth agent token list` shows as valid, or let it --wait for that.',
  })

const renderersOf = (
  { kubectl, helm }: AgentConfig,
  { kube, yaml, log }: { kube: Kube; yaml: ReadYaml; log: Log },
): Renderers => ({
  render: createRenderer({ kubectl, helm, limits: { memory: RENDER_MEMORY }, yaml, log }),
  readFiles: createFileReader(yaml),
  capabilities: () => capabilitiesOf(kube),
})

/** To each kas that the name stands for: whichever ends, others are there already. */
async function connectionTo(
  { kasAddress, token, caCertFile, kasHeaders, kasTlsServerName, kasInsecureSkipTlsVerify }: AgentConfig,
  version: string,
): Promise<GrpcConnection> {
  const show = 'file' in token ? tokenOf(token.file, '--token-file') : async () => token.value
  // A file that is not there is told now: later it is waited for, because tokens are exchanged.
  await show()
  return dial({
    address: kasAddress,
    token: show,
    extraCa: await readOptional(caCertFile, '--ca-cert-file'),
    headers: kasHeaders,
    serverName: kasTlsServerName,
    insecureSkipVerify: kasInsecureSkipTlsVerify,
    userAgent: `berth-agent/${version}`,
    everyAddress: true,
  })
}
