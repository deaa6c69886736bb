import * as assert from 'uvu/assert'
import { readMetrics } from '../hack/monitoring/metrics.ts'
import { createMetrics, serveOperations } from '../src/adapters/http/index.ts'
import { expirationMeter } from '../src/certificates/meters.ts'
import { leaderMeter, loopMeter, requestMeter } from '../src/engines/controller/index.ts'
import { PHASES } from '../src/engines/gitops/sync/meter.ts'
import { createVisitMeters } from '../src/kas/kubernetes-api/index.ts'
import { createMeters } from '../src/kas/meters.ts'
import { countObjects } from '../src/operator/census.ts'
import { gitopsMeter } from '../src/operator/gitops-deployment/index.ts'
import { targetMeter } from '../src/operator/workspace/index.ts'
import { createMeters as createProxyMeters } from '../src/proxy/meters.ts'
import { silentLog, systemClock } from '../src/std/index.ts'
import { describe } from './support/suite.ts'

/** Name and type of each row, in the order of their names. */
const documented = readMetrics()
  .map(({ name, type }) => `${name.replace('<controller>', 'some')} ${type}`)
  .sort()

const claims = [
  { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Bound' }] } },
  { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'ClassNotFound' }] } },
  { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Bound' }] } },
  {},
]
const caches = {
  of: ({ kind }: { kind: string }) => ({ all: () => (kind === 'DeploymentTargetClaim' ? claims : []) }) as never,
}

/** All that the programs register. */
async function exported(): Promise<string[]> {
  const metrics = createMetrics()
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
  kas.watch({ waiting: () => 0, bytes: () => 0 })
  kas.connected(() => 0)
  kas.agents(() => 0)
  kas.routes.watch(
    () => ({ idle: 1, open: 2, waiting: 3 }),
    () => 2,
  )
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
  assert.match(text, /^berth_gitops_open_watches 7$/m)
  assert.match(text, /^berth_kas_requests_waiting 3$/m)
  assert.match(text, /^grpc_server_handled_total\{grpc_service="x.Echo",grpc_method="Echo",grpc_code="OK"\} 1$/m)
  assert.match(text, /^grpc_server_requests_in_flight 0$/m)
  assert.match(text, /^berth_gitops_objects_total\{outcome="created"\} 1$/m)
  return [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`).sort()
}

describe('docs/metrics.md', (it) => {
  it('lists every metric that is exported, and no other', async () => {
    assert.equal(documented, await exported())
  })
})
