import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { createMetrics, serveOperations } from '../src/adapters/http/index.ts'
import { loopMeter, requestMeter } from '../src/engines/controller/index.ts'
import { PHASES } from '../src/engines/gitops/sync/meter.ts'
import { createVisitMeters } from '../src/kas/kubernetes-api/index.ts'
import { createMeters } from '../src/kas/meters.ts'
import { gitopsMeter } from '../src/operator/gitops-deployment/index.ts'
import { targetMeter } from '../src/operator/workspace/index.ts'
import { createMeters as createProxyMeters } from '../src/proxy/meters.ts'
import { describe } from './support/suite.ts'

const PAGE = readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8')

/** Name and type of each row, in the order of their names. */
const documented = PAGE.split('\n')
  .map((line) => /^\| `([a-z0-9_<>]+)` \| (\w+) \|/.exec(line))
  .flatMap((row) => (row ? [`${row[1]?.replace('<controller>', 'some')} ${row[2]}`] : []))
  .sort()

/** All that the programs register. */
async function exported(): Promise<string[]> {
  const metrics = createMetrics()
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
