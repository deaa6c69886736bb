import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { ALERTS } from '../../hack/monitoring/alerts.ts'
import { dashboards } from '../../hack/monitoring/dashboards.ts'
import { readMetrics } from '../../hack/monitoring/metrics.ts'
import { ruleFile } from '../../hack/monitoring/rules.ts'
import { acquirePrometheus, lacksPrometheus } from '../support/prometheus.ts'
import { describe } from '../support/suite.ts'
import { CASES } from './cases.ts'
import { textsAt } from './texts.ts'

const NAMES = Object.values(ALERTS).flatMap((alerts) => alerts.map(({ name }) => name))
/** Prometheus has it of each scrape, and prom-client of each process. */
const OF_OTHERS = ['up', 'process_start_time_seconds', 'nodejs_eventloop_lag_p99_seconds']

describe(
  'alerts and dashboards',
  (it) => {
    let folder: string
    let promtool: string
    const check = async (words: string[], text: string) => {
      const file = join(folder, 'file.yaml')
      await writeFile(file, text)
      return promisify(execFile)(promtool, [...words, file], { cwd: folder })
    }

    it.before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'berth-rules-'))
      promtool = (await acquirePrometheus()).promtool
    })
    it.after(() => rm(folder, { recursive: true }))

    it('are read by promtool', async () => {
      const { stdout } = await check(['check', 'rules'], stringify(ruleFile()))
      assert.match(stdout, `${NAMES.length} rules found`)
      const queries = Object.values(dashboards()).flatMap((dashboard) => textsAt('expr', dashboard))
      assert.ok(queries.length > NAMES.length)
      const rules = queries.map((expr, at) => ({
        record: `query:${at}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.+'),
      }))
      await check(['check', 'rules'], stringify({ groups: [{ name: 'dashboards', rules }] }))
    })

    it('name only metrics and labels that there are', () => {
      const metrics = new Map(readMetrics().map(({ name, labels }) => [name, labels]))
      for (const { name, expr } of Object.values(ALERTS).flat()) {
        const bare = expr.replaceAll(/\w+ by \([^)]*\)|\{[^}]*\}|\[[^\]]*\]/g, '')
        const used = bare.match(/\b[a-z]\w+\b(?!\()/g)?.filter((word) => !['and', 'or'].includes(word)) ?? []
        assert.ok(used.length > 0, name)
        for (const word of used.map((each) => each.replace(/_bucket$/, '')))
          assert.ok(OF_OTHERS.includes(word) || metrics.has(word), `${name}: ${word}`)
        for (const [, metric = '', matchers = ''] of expr.matchAll(/(berth_\w+)\{([^}]*)\}/g))
          for (const [, label = ''] of matchers.matchAll(/(\w+)=/g))
            assert.ok(metrics.get(metric)?.includes(label), `${name}: ${metric} has no label ${label}`)
      }
    })

    it('are told when something is wrong, and not when it is well', async () => {
      assert.equal(Object.keys(CASES).sort(), [...NAMES].sort())
      await writeFile(join(folder, 'rules.yaml'), stringify(ruleFile()))
      const tests = Object.entries(CASES).flatMap(([alertname, { at, fires, rests }]) => [
        { alertname, at, series: fires, count: 1 },
        { alertname, at, series: rests, count: 0 },
      ])
      const text = stringify({
        rule_files: ['rules.yaml'],
        evaluation_interval: '1m',
        tests: tests.map(({ alertname, at, series, count }) => ({
          interval: '1m',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alertname}", alertstate="firing"}) or vector(0)`,
              eval_time: `${at}m`,
              exp_samples: [{ labels: '{}', value: count }],
            },
          ],
        })),
      })
      await check(['test', 'rules'], text)
    })
  },
  lacksPrometheus(),
)
