import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { ALERTS } from '../../hack/monitoring/alerts.ts'
import { readMetrics } from '../../hack/monitoring/metrics.ts'
import { ruleFile } from '../../hack/monitoring/rules.ts'
import { acquirePrometheus, lacksPrometheus } from '../support/prometheus.ts'
import { describe } from '../support/suite.ts'
import { CASES } from './cases.ts'
import { queriesOfDashboards } from './queries.ts'

const SRC = join(import.meta.dirname, '../../src')
const NAMES = Object.values(ALERTS).flatMap((alerts) => alerts.map(({ name }) => name))
/** Prometheus has these of each scrape. */
const OF_SCRAPES = ['job', 'pod', 'namespace', 'le']
const OF_PROMQL = ['and', 'or', 'unless', 'sum', 'max', 'min', 'count']
/** All of src, where the values of labels come from. */
const SOURCE = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(SRC, file), 'utf8'))
  .join('\n')
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
      const queries = queriesOfDashboards('5m', '.+')
      assert.ok(queries.length > NAMES.length)
      const rules = queries.map(({ expr }, at) => ({ record: `query:${at}`, expr }))
      await check(['check', 'rules'], stringify({ groups: [{ name: 'dashboards', rules }] }))
    })

    it('name only metrics and labels that there are', () => {
      const metrics = new Map(readMetrics().map(({ name, labels }) => [name, labels]))
      for (const { name, expr, summary } of Object.values(ALERTS).flat()) {
        const bare = expr.replaceAll(/\b(?:by|on) \([^)]*\)|\{[^}]*\}|\[[^\]]*\]/g, '')
        const used = bare.match(/\b[a-z]\w+\b(?!\()/g)?.filter((word) => !OF_PROMQL.includes(word)) ?? []
        assert.ok(used.length > 0, name)
        for (const word of used.map((each) => each.replace(/_bucket$/, '')))
          assert.ok(OF_OTHERS.includes(word) || metrics.has(word), `${name}: ${word}`)
        const labels = new Set([...OF_SCRAPES, ...used.flatMap((word) => metrics.get(word.replace(/_bucket$/, '')) ?? [])])
        for (const [, grouped = ''] of `${expr} ${summary}`.matchAll(/(?:by|on) \(([^)]*)\)|\$labels\.(\w+)/g))
          for (const label of grouped.split(', ')) assert.ok(label === '' || labels.has(label), `${name}: no label ${label}`)
        for (const [, metric = '', matchers = ''] of expr.matchAll(/(\w+)\{([^}]*)\}/g))
          for (const [, label = '', sign, value = ''] of matchers.matchAll(/(\w+)(!?=~?)"([^"]*)"/g)) {
            assert.ok([...OF_SCRAPES, ...(metrics.get(metric) ?? [])].includes(label), `${name}: ${metric} has no label ${label}`)
            const values = sign === '=' && !['job', 'status'].includes(label) ? [value] : []
            for (const each of values) assert.match(SOURCE, `'${each}'`, `${name}: nothing says ${label}="${each}"`)
          }
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
