import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { ruleFile } from '../../hack/monitoring/rules.ts'
import { freePort } from '../../src/adapters/control-plane/index.ts'
import { bringUp, type Installation } from '../hostile/installation.ts'
import { acquirePrometheus, lacksPrometheus } from '../support/prometheus.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { queriesOfDashboards } from './queries.ts'

interface Sample {
  metric: Record<string, string>
  value: [number, string]
}

/** Reads these addresses each second, with the rules, until it is stopped. */
async function startPrometheus(folder: string, scraped: Record<string, string>) {
  const port = await freePort()
  const { prometheus } = await acquirePrometheus()
  await writeFile(join(folder, 'rules.yaml'), stringify(ruleFile()))
  const jobs = Object.entries(scraped).map(([job_name, address]) => ({
    job_name,
    static_configs: [{ targets: [address], labels: { pod: `${job_name}-1`, namespace: 'berth-system' } }],
  }))
  const global = { scrape_interval: '1s', evaluation_interval: '1s' }
  await writeFile(join(folder, 'prometheus.yaml'), stringify({ global, rule_files: ['rules.yaml'], scrape_configs: jobs }))
  const flags = [
    '--config.file=prometheus.yaml',
    `--web.listen-address=127.0.0.1:${port}`,
    // Debian's would be in /var.
    '--storage.tsdb.path=data',
    '--log.level=warn',
  ]
  const child = spawn(prometheus, flags, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  return {
    async query(expr: string): Promise<Sample[]> {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query: expr })}`)
      const { status, error, data } = (await answer.json()) as { status: string; error?: string; data?: { result: Sample[] } }
      assert.is(status, 'success', `${expr}: ${error}`)
      return data?.result ?? []
    },
    /** Why targets cannot be read, if they cannot. */
    async troubles(): Promise<string> {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/targets`)
      const { data } = (await answer.json()) as { data: { activeTargets: { scrapeUrl: string; lastError: string }[] } }
      return data.activeTargets.map(({ scrapeUrl, lastError }) => `${scrapeUrl}: ${lastError || 'well'}`).join(', ')
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

describe(
  'what Prometheus sees of an installation',
  (it) => {
    let folder: string
    let site: Installation
    let prometheus: Awaited<ReturnType<typeof startPrometheus>>
    it.before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'berth-prometheus-'))
      site = await bringUp(['team-a'])
      await site.space(await site.person('ann', 'team-a', 'admin'), 'team-a', 'development')
      const address = (program: string) => site.doorOf(program, 'operations').address
      prometheus = await startPrometheus(folder, { 'berth-operator': address('operator'), 'berth-kas': address('kas') })
    })
    it.after(async () => {
      await prometheus?.stop()
      await site?.stop()
      await rm(folder, { recursive: true })
    })

    it('is who is ready, who leads, and how objects are', async () => {
      const readiness = async () =>
        (await prometheus.query('berth_ready')).map(({ metric, value }) => [metric.job, value[1]]).sort()
      const both = [
        ['berth-kas', '1'],
        ['berth-operator', '1'],
      ]
      await eventually(async () => {
        assert.equal(await readiness(), both, await prometheus.troubles())
        return true
      })
      const leading = await prometheus.query('leader_election_master_status')
      assert.equal(
        leading.map(({ metric, value }) => [metric.name, value[1]]),
        [['berth-operator', '1']],
      )
      const bound = await prometheus.query('berth_objects{kind="DeploymentTargetClaim"}')
      assert.equal(
        bound.map(({ metric: { ready, reason }, value }) => [ready, reason, value[1]]),
        [['True', 'Bound', '1']],
      )
    })

    it('answers every query of the dashboards, and raises no alert', async () => {
      const counts: Record<string, number> = {}
      await eventually(async () => (await prometheus.query('rate(process_cpu_seconds_total[10s])')).length === 2)
      for (const { dashboard, expr } of queriesOfDashboards('10s', 'berth-.+'))
        counts[dashboard] = (counts[dashboard] ?? 0) + Math.sign((await prometheus.query(expr)).length)
      // Much has not happened here yet, and so has no series.
      assert.ok((counts.overview ?? 0) >= 8 && (counts.operator ?? 0) >= 12 && (counts.kas ?? 0) >= 12, JSON.stringify(counts))
      // Not even one that waits for its time.
      await eventually(async () => (await prometheus.query('ALERTS')).length === 0)
    })
  },
  lacksPrometheus(),
)
