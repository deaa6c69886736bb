import * as assert from 'uvu/assert'
import { readMetrics } from '../hack/monitoring/metrics.ts'
import { createMetrics, type Metrics, serveOperations } from '../src/adapters/http/index.ts'
import { expirationMeter } from '../src/certificates/meters.ts'
import { leaderMeter, loopMeter, requestMeter } from '../src/engines/controller/index.ts'
import { PHASES } from '../src/engines/gitops/sync/meter.ts'
import { createVisitMeters } from '../src/kas/kubernetes-api/index.ts'
import { createMeters } from '../src/kas/ports/meters.ts'
import { countObjects } from '../src/operator/census.ts'
import { statusOf } from '../src/operator/deployment-target/lifecycle/status.ts'
import { gitopsMeter } from '../src/operator/gitops-deployment/index.ts'
import { targetMeter } from '../src/operator/workspace/index.ts'
import { createMeters as createProxyMeters } from '../src/proxy/meters.ts'
import { Failure, silentLog, systemClock } from '../src/std/index.ts'
import { describe } from './support/suite.ts'

/** Name, type and labels of each row, in the order of their names. */
const documented = readMetrics()
  .map(({ name, type, labels }) => `${name.replace('<controller>', 'some')} ${type} ${labels.join(' ')}`)
  .sort()

const claims = [
  { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Bound' }] } },
  { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'ClassNotFound' }] } },
  { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Bound' }] } },
  {},
]
const credentials = { usable: true, reason: 'Valid', message: '' }
const finding = { answer: { status: 'False', reason: 'NoAnswer', message: '' } } as const
const targets = [
  {
    status: statusOf({ phase: 'Available', reason: 'Available', message: '', credentials: { ...credentials, finding } }),
  },
]
const objects: Record<string, object[]> = { DeploymentTargetClaim: claims, DeploymentTarget: targets }
const caches = {
  of: ({ kind }: { kind: string }) => ({ all: () => objects[kind] ?? [] }) as never,
}

/** The same, and what was registered. */
function noting(metrics: Metrics): { metrics: Metrics; registered: string[] } {
  const registered: string[] = []
  const noted =
    <N extends { name: string; labels?: readonly string[] }, T>(type: string, register: (naming: N) => T) =>
    (naming: N) => {
      registered.push(`${naming.name} ${type} ${(naming.labels ?? []).join(' ')}`)
      return register(naming)
    }
  const counter = noted('counter', metrics.counter)
  const gauge = noted('gauge', metrics.gauge)
  const histogram = noted('histogram', metrics.histogram)
  return { metrics: { ...metrics, counter, gauge, histogram }, registered }
}

/** All that the programs register. */
async function exported(): Promise<string[]> {
  const { metrics, registered } = noting(createMetrics())
  const live = () => undefined
  const operations = await serveOperations({
    address: '127.0.0.1:0',
    live,
    ready: live,
    metrics,
    clock: systemClock,
    log: silentLog,
  })
  await operations.stop()
  leaderMeter(metrics)('berth-operator', true)
  expirationMeter(metrics)({ secret: 'kas-tls', what: 'kept', validUntil: new Date(7000) })
  countObjects(metrics, () => caches)
  const request = requestMeter(metrics)
  request({ verb: 'get', status: 200, ms: 1 })
  const loop = loopMeter(metrics)
  loop.depth('some', () => 0)
  const gitops = gitopsMeter(metrics)
  for (const phase of PHASES) gitops.took(phase, 1)
  gitops.did('created', 1)
  gitops.repaired(1)
  gitops.watches(() => 7)
  targetMeter(metrics)({ verb: 'get', status: 200, ms: 1 })
  const kas = createMeters(metrics)
  const failure = new Failure('unavailable', 'away', { reason: 'Unreachable' })
  kas.watch({ waiting: () => 0, bytes: () => 0, sightings: () => [{ failure }, { empty: true }, { failure }] })
  kas.connected(() => 0)
  kas.agents(() => 0)
  kas.routes.watch(
    () => ({ idle: 1, open: 2, waiting: 3 }),
    () => 2,
  )
  kas.routes.watchRedis(() => true)
  kas.called('/x.Echo/Echo')('OK')
  createVisitMeters(metrics)
  createProxyMeters(metrics).watch({ hosts: () => 0, streams: () => 0, viewers: () => 0 })
  const text = await metrics.render()
  assert.match(text, /^berth_ready 1$/m)
  assert.match(text, /^leader_election_master_status\{name="berth-operator"\} 1$/m)
  assert.match(text, /^berth_certificate_expiration_timestamp_seconds\{secret="kas-tls"\} 7$/m)
  assert.match(text, /^berth_objects\{kind="DeploymentTargetClaim",ready="True",reason="Bound"\} 2$/m)
  assert.match(text, /^berth_objects\{kind="DeploymentTargetClaim",ready="False",reason="ClassNotFound"\} 1$/m)
  assert.match(text, /^berth_objects\{kind="DeploymentTargetClaim",ready="Unknown",reason=""\} 1$/m)
  assert.match(text, /^berth_targets\{reachable="False",reason="NoAnswer"\} 1$/m)
  assert.match(text, /^berth_kas_repositories\{outcome="Unreachable"\} 2$/m)
  assert.match(text, /^berth_kas_repositories\{outcome="ok"\} 1$/m)
  assert.match(text, /^berth_gitops_open_watches 7$/m)
  assert.match(text, /^berth_kas_requests_waiting 3$/m)
  assert.match(text, /^grpc_server_handled_total\{grpc_service="x.Echo",grpc_method="Echo",grpc_code="OK"\} 1$/m)
  assert.match(text, /^grpc_server_requests_in_flight 0$/m)
  assert.match(text, /^berth_gitops_objects_total\{outcome="created"\} 1$/m)
  return registered.sort()
}

describe('docs/metrics.md', (it) => {
  it('lists every metric that is exported, and no other', async () => {
    assert.equal(documented, await exported())
  })
})
