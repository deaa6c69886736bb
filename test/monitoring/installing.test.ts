import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../src/api/index.ts'
import { berth } from '../cli/berth.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../support/control-plane.ts'
import { whyNoGo } from '../support/go-program.ts'
import { lacksPrometheus, prometheusOperatorKinds } from '../support/prometheus.ts'
import { describe } from '../support/suite.ts'

const WITHOUT = '{ image: "registry.example.com/berth:1", namespace: platform }'
const WITH = `${WITHOUT.slice(0, -1)}, monitoring: { labels: { release: ours } } }`
const KINDS = ['PodMonitor', 'PrometheusRule']

describe(
  'berth install where the Prometheus operator is',
  (it) => {
    let plane: OwnControlPlane
    let tool: string
    it.before(async () => {
      plane = await ownControlPlane({ nodes: 1 })
      tool = await kubectl()
      const files = (await prometheusOperatorKinds()).flatMap((file) => ['-f', file])
      const words = ['--kubeconfig', plane.kubeconfig, 'apply', '--server-side', ...files]
      await promisify(execFile)(tool, words)
    })
    it.after(() => plane?.remove())

    const install = async (values: string) => {
      const words = ['install', '--values', '-', '--apply', '--yes', '--kubeconfig', plane.kubeconfig]
      const { code, stderr } = await berth(words, { env: { BERTH_KUBECTL: tool }, input: values })
      assert.is(code, 0, stderr)
      return stderr
    }
    /** Names and labels of what there is of a kind in Berth's namespace. */
    const monitored = async (wanted: string) => {
      const kind = await plane.kube.resolve('monitoring.coreos.com/v1', wanted)
      const objects = kind ? await plane.kube.list(kind, { namespace: 'platform' }) : []
      return objects.map(({ metadata }) => [metadata.name, metadata.labels?.release])
    }
    const dashboards = async () =>
      (await plane.kube.list(ConfigMaps, { namespace: 'platform' })).filter(({ metadata }) => metadata.labels?.grafana_dashboard)

    it('has a PodMonitor, rules and dashboards as their kinds want them, with the labels of the values', async () => {
      await install(WITH)
      for (const kind of KINDS) assert.equal(await monitored(kind), [['berth', 'ours']])
      const texts = (await dashboards()).flatMap(({ data = {} }) => Object.values(data))
      assert.is(texts.length, 4)
      for (const text of texts) assert.match(JSON.parse(text).uid, /^berth-/)
    })

    it('takes them away where the values say nothing of it any more', async () => {
      const said = await install(WITHOUT)
      assert.match(said, 'Removed PrometheusRule platform/berth.\n')
      for (const kind of KINDS) assert.equal(await monitored(kind), [])
      assert.equal(await dashboards(), [])
    })
  },
  lacksPrometheus() ?? (await whyNoGo()),
)
