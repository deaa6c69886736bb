/** Dashboards of Grafana: what stands where is said here, and how a metric is shown follows from its type and labels. */
import { type Metric, readMetrics } from './metrics.ts'

interface Dashboard {
  title: string
  /** As a scrape names the program. */
  job: string
  /** By their titles, each with the metrics that it shows, in this order. */
  rows: Record<string, readonly string[]>
}

const API = ['berth_api_requests_total', 'berth_api_request_seconds']
const GITOPS = ['berth_gitops_phase_seconds', 'berth_gitops_objects_total', 'berth_gitops_drift_repairs_total']
/** Of every process of Node: prom-client has them. */
const PROCESS: Metric[] = [
  { name: 'process_cpu_seconds_total', type: 'counter', labels: [], meaning: 'Cores that it uses.' },
  { name: 'process_resident_memory_bytes', type: 'gauge', labels: [], meaning: 'Memory that it has.' },
  { name: 'nodejs_heap_size_used_bytes', type: 'gauge', labels: [], meaning: 'Memory of its objects.' },
  { name: 'nodejs_eventloop_lag_p99_seconds', type: 'gauge', labels: [], meaning: 'How long one in a hundred callbacks waits.' },
]
const PROCESS_ROW = { Process: PROCESS.map(({ name }) => name) }

/** By the names of their files. */
const DASHBOARDS: Record<string, Dashboard> = {
  overview: {
    title: 'Berth',
    job: 'berth-.+',
    rows: {
      Programs: ['berth_ready', 'leader_election_master_status', 'berth_certificate_expiration_timestamp_seconds'],
      Tenants: ['berth_objects', 'berth_targets', 'berth_kas_repositories', 'connected_agents_count', 'berth_proxy_open_streams'],
      Deliveries: ['berth_kas_polls_total', 'berth_gitops_phase_seconds', 'berth_gitops_objects_total'],
      ...PROCESS_ROW,
    },
  },
  operator: {
    title: 'Berth / Operator and agents',
    job: 'berth-(operator|agent)',
    rows: {
      State: ['berth_ready', 'leader_election_master_status', 'berth_objects', 'berth_targets'],
      Reconciles: [
        'berth_reconciles_total',
        'berth_reconcile_failures_total',
        'berth_reconcile_seconds',
        'berth_queue_wait_seconds',
        'berth_queue_depth_<controller>',
      ],
      Deployments: [...GITOPS, 'berth_gitops_open_watches'],
      'API servers': [...API, 'berth_target_requests_total'],
      ...PROCESS_ROW,
    },
  },
  kas: {
    title: 'Berth / kas',
    job: 'berth-kas',
    rows: {
      State: ['berth_ready', 'connected_agents_count', 'berth_kas_connections', 'grpc_server_requests_in_flight'],
      Git: [
        'berth_kas_repositories',
        'berth_kas_polls_total',
        'berth_kas_poll_duration_seconds',
        'berth_kas_fetches_total',
        'berth_kas_fetch_duration_seconds',
        'berth_kas_fetched_bytes_total',
        'berth_kas_mirror_bytes',
        'berth_kas_git_queue_length',
        'berth_kas_webhooks_total',
      ],
      'Agents and the operator': [
        'grpc_server_started_total',
        'grpc_server_handled_total',
        'berth_kas_batches_total',
        'berth_kas_unchanged_total',
      ],
      'Clusters of agents': [
        'berth_kas_kubernetes_api_requests_total',
        'k8s_api_proxy_routing_duration_seconds',
        'k8s_api_proxy_routing_timeout_total',
        'berth_kas_tunnels',
        'berth_kas_idle_tunnels',
        'berth_kas_requests_waiting',
        'berth_kas_external_calls_total',
      ],
      Workspaces: ['berth_kas_git_credentials_total', 'berth_kas_port_connections_total'],
      'Other kas': [
        'berth_kas_peers',
        'berth_kas_routed_requests_total',
        'berth_kas_peer_requests_total',
        'berth_kas_peer_failures_total',
        'berth_kas_redis_connected',
        'berth_kas_redis_failures_total',
      ],
      Refused: [
        'berth_kas_connections_refused_total',
        'berth_kas_kubernetes_api_connections_refused_total',
        'berth_kas_kubernetes_api_limited_total',
        'berth_kas_unknown_tokens_refused_total',
        'agent_server_rate_exceeded_total',
        'berth_kas_agent_limits_total',
      ],
      'API server': API,
      ...PROCESS_ROW,
    },
  },
  proxy: {
    title: 'Berth / Proxy',
    job: 'berth-proxy',
    rows: {
      State: ['berth_ready', 'berth_proxy_hosts', 'berth_proxy_open_streams', 'berth_proxy_dashboard_viewers'],
      Requests: [
        'berth_proxy_requests_total',
        'berth_proxy_request_duration_seconds',
        'berth_proxy_consultations_total',
        'berth_proxy_cut_streams_total',
      ],
      'API server': API,
      ...PROCESS_ROW,
    },
  },
}

/** The JSON of each dashboard, by its name. */
export function dashboards(): Record<string, object> {
  const metrics = new Map([...readMetrics(), ...PROCESS].map((metric) => [metric.name, metric]))
  const shown = new Set(Object.values(DASHBOARDS).flatMap(({ rows }) => Object.values(rows).flat()))
  const unmatched = [
    ...[...shown].filter((name) => !metrics.has(name)),
    ...[...metrics.keys()].filter((name) => !shown.has(name)),
  ]
  if (unmatched.length > 0)
    throw new TypeError(
      `not both in docs/metrics.md and in a dashboard of hack/monitoring/dashboards.ts: ${unmatched.join(', ')}`,
    )
  const shownIn = (names: readonly string[]) => names.flatMap((name) => metrics.get(name) ?? [])
  return Object.fromEntries(
    Object.entries(DASHBOARDS).map(([name, { rows, ...dashboard }]) => {
      const filled = Object.entries(rows).map(([title, names]) => ({ title, metrics: shownIn(names) }))
      return [name, dashboardOf(name, { ...dashboard, rows: filled })]
    }),
  )
}

/** Columns of Grafana's grid, and the size of a panel in it. */
const [COLUMNS, WIDTH, HEIGHT] = [24, 8, 8]

interface FilledDashboard extends Pick<Dashboard, 'title' | 'job'> {
  rows: { title: string; metrics: Metric[] }[]
}

function dashboardOf(name: string, { title, job, rows }: FilledDashboard) {
  const panels: object[] = []
  let y = 0
  const add = (panel: object, gridPos: object) => panels.push({ id: panels.length + 1, gridPos, ...panel })
  for (const { title: row, metrics } of rows) {
    add({ type: 'row', title: row, collapsed: false, panels: [] }, { x: 0, y, w: COLUMNS, h: 1 })
    y += 1
    for (const [at, metric] of metrics.entries())
      add(panelOf(metric), {
        x: (at * WIDTH) % COLUMNS,
        y: y + Math.floor((at * WIDTH) / COLUMNS) * HEIGHT,
        w: WIDTH,
        h: HEIGHT,
      })
    y += Math.ceil((metrics.length * WIDTH) / COLUMNS) * HEIGHT
  }
  return {
    uid: `berth-${name}`,
    title,
    tags: ['berth'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    links: [{ type: 'dashboards', title: 'Berth', tags: ['berth'], asDropdown: true, includeVars: false, keepTime: true }],
    annotations: { list: [firingAlerts] },
    templating: { list: [sourceVariable, jobVariable(job)] },
    panels,
  }
}

const SOURCE = { type: 'prometheus', uid: '${source}' }

const firingAlerts = {
  name: 'Alerts',
  datasource: SOURCE,
  enable: true,
  iconColor: 'red',
  expr: 'ALERTS{alertname=~"Berth.+", alertstate="firing"}',
  titleFormat: '{{alertname}}',
  textFormat: '{{pod}} {{controller}} {{secret}}',
}

const sourceVariable = { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' }

const jobVariable = (job: string) => ({
  name: 'job',
  label: 'Job',
  type: 'query',
  datasource: SOURCE,
  query: { query: `label_values(berth_ready{job=~"${job}"}, job)`, refId: 'jobs' },
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: job,
  current: { text: 'All', value: '$__all' },
})

interface Query {
  expr: string
  legend: string
}

function panelOf(metric: Metric) {
  const queries = queriesOf(metric)
  return {
    type: 'timeseries',
    title: metric.name,
    description: metric.meaning.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', ''),
    datasource: SOURCE,
    fieldConfig: {
      defaults: {
        unit: unitOf(metric),
        min: isRemaining(metric) ? undefined : 0,
        custom: { fillOpacity: 10, showPoints: 'never' },
      },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: SOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}

const isRemaining = ({ name }: Metric): boolean => name.endsWith('_timestamp_seconds')

const unitOf = ({ name, type }: Metric): string => {
  if (name.includes('bytes')) return type === 'counter' ? 'Bps' : 'bytes'
  if (name.includes('seconds')) return name.endsWith('seconds_total') ? 'none' : 's'
  return type === 'counter' ? 'ops' : 'short'
}

const JOB = 'job=~"$job"'

function queriesOf(metric: Metric): Query[] {
  const { name, type } = metric
  const by = seriesOf(metric)
  const legend = by.map((label) => `{{${label}}}`).join(' ')
  const grouped = by.join(', ')
  if (type === 'histogram') return [0.5, 0.99].map((share) => quantileOf(name, by, share))
  if (type === 'counter') return [{ expr: `sum by (${grouped}) (rate(${name}{${JOB}}[$__rate_interval]))`, legend }]
  if (isRemaining(metric)) return [{ expr: `min by (${grouped}) (${name}{${JOB}}) - time()`, legend }]
  if (name.includes('<'))
    return [{ expr: `sum by (__name__) ({__name__=~"${name.replace(/<.*>/, '.+')}", ${JOB}})`, legend: '{{__name__}}' }]
  return [{ expr: `max by (${grouped}) (${name}{${JOB}})`, legend }]
}

/** Every replica of the operator counts all of these. */
const OF_ALL = ['berth_objects', 'berth_targets', 'berth_certificate_expiration_timestamp_seconds']

/** What is shown as one line: counters of replicas are added up, and what each has is shown for each. */
function seriesOf({ name, type, labels }: Metric): string[] {
  if (type !== 'gauge') return ['job', ...labels]
  return OF_ALL.includes(name) ? labels : [...labels, 'pod']
}

const quantileOf = (name: string, by: string[], share: number): Query => ({
  expr: `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (rate(${name}_bucket{${JOB}}[$__rate_interval])))`,
  legend: [`${share * 100} %`, ...by.map((label) => `{{${label}}}`)].join(' '),
})
