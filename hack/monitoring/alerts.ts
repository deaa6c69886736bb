/**
 * What whoever runs Berth is to be told, and what to do then. deploy/monitoring/rules.yaml and docs/monitoring.md are made of it. Dashboards follow
 * from docs/metrics.md alone; which of these numbers mean that somebody has to get up does not, so alerts are written by hand.
 */

export interface Alert {
  name: string
  /** `critical`: somebody has to look now. */
  severity: 'critical' | 'warning'
  /** True while something is wrong; its series are told one by one. */
  expr: string
  /** So long it has to be true. */
  for: string
  /** One line, with labels of the series. */
  summary: string
  /** What it means, and for whom. */
  means: string
  /** What to do, one step after the other. */
  runbook: readonly string[]
}

const DOCTOR = '`berth doctor` says what is not well, and how to mend it.'
/** Of all replicas. */
const logs = (program: string) =>
  `\`kubectl logs -n berth-system -l app.kubernetes.io/name=berth-${program} --prefix --tail=-1 --since=30m\``

/** Not for a cluster that has only agents: there they would be told all the time. */
const INSTALLATION: Alert[] = [
  {
    name: 'BerthOperatorAway',
    severity: 'critical',
    expr: 'absent(leader_election_master_status{name="berth-operator"} == 1)',
    for: '5m',
    summary: 'No operator of Berth leads.',
    means:
      'What runs goes on. Nothing is bound, applied, set back, renewed, started or stopped, and the tokens of targets are not renewed.',
    runbook: [
      '`kubectl get pods -n berth-system -l app.kubernetes.io/name=berth-operator`: is one there, and ready?',
      '`kubectl get lease -n berth-system berth-operator -o yaml` names who holds it, and since when it was not renewed.',
      `${logs('operator')} says what is in its way, and with \`--previous\` instead of \`--since\` why one ended: kinds of another version, for example.`,
      DOCTOR,
    ],
  },
  {
    name: 'BerthOperatorsBothLead',
    severity: 'critical',
    expr: 'count(max by (namespace, pod) (leader_election_master_status{name="berth-operator"}) == 1) > 1',
    for: '5m',
    summary: 'Two operators of Berth lead at once.',
    means: 'Berth is installed twice in this cluster, and both work on the same objects.',
    runbook: [
      '`kubectl get deployments -A -l app.kubernetes.io/name=berth-operator` shows where.',
      'Delete the Deployment that nobody means to keep: `berth uninstall` would take the objects of both.',
    ],
  },
  {
    name: 'BerthKasAway',
    severity: 'critical',
    expr: 'absent(up{job="berth-kas"} == 1)',
    for: '5m',
    summary: 'No kas of Berth tells its metrics.',
    means: 'What runs goes on. There are no new commits, no Git credentials in workspaces, and no way to the clusters of agents.',
    runbook: [
      '`kubectl get pods -n berth-system -l app.kubernetes.io/name=berth-kas`: is one there?',
      `${logs('kas')}, and with \`--previous\` instead of \`--since\` for one that ended.`,
      DOCTOR,
    ],
  },
  {
    name: 'BerthProgramAway',
    severity: 'critical',
    expr: 'max by (job) (max_over_time(up{job=~"berth-(proxy|certificates)"}[1d])) == 1 unless on (job) max by (job) (up == 1)',
    for: '10m',
    summary: 'No {{ $labels.job }} tells its metrics, and within a day one did.',
    means:
      'Without the proxy nobody reaches a workspace in the browser. Without certificates these are not renewed, for which there are weeks.',
    runbook: [
      '`kubectl get pods -n berth-system -l app.kubernetes.io/name={{ $labels.job }}`: is one there, and why does it wait?',
      'Where somebody has removed it, this ends within a day.',
    ],
  },
]

const PROGRAMS: Alert[] = [
  {
    name: 'BerthProgramNotReady',
    severity: 'warning',
    expr: 'berth_ready == 0',
    for: '10m',
    summary: '{{ $labels.pod }} is not ready.',
    means: 'This process does not do all of its work, and another has to, if there is one.',
    runbook: [
      '`/readyz` says what it waits for: `kubectl port-forward -n {{ $labels.namespace }} {{ $labels.pod }} 8099:operations`, then `curl localhost:8099/readyz`.',
      'A kind that cannot be listed means missing rights, or kinds of another version: `berth doctor`. An agent waits for kas. certificates waits for a key that a Secret of yours lacks, and goes on with the others.',
    ],
  },
  {
    name: 'BerthProgramUnreachable',
    severity: 'warning',
    expr: 'up{job=~"berth-.+"} == 0',
    for: '10m',
    summary: 'The metrics of {{ $labels.pod }} cannot be read.',
    means: 'No other alert can tell of this process.',
    runbook: [
      '`kubectl describe pod -n {{ $labels.namespace }} {{ $labels.pod }}`: does it run?',
      'If it does, something is between it and Prometheus: NetworkPolicies let everybody to the port `operations`.',
    ],
  },
  {
    name: 'BerthProgramRestarts',
    severity: 'warning',
    expr: 'changes(process_start_time_seconds{job=~"berth-.+"}[1h]) > 3',
    for: '0m',
    summary: '{{ $labels.pod }} has started {{ $value }} times within an hour.',
    means: 'It ends by itself, or is ended: each time, others have to take its work over.',
    runbook: [
      '`kubectl describe pod -n {{ $labels.namespace }} {{ $labels.pod }}` has the reason: `OOMKilled` wants more memory (`programs.NAME.resources`).',
      '`kubectl logs -n {{ $labels.namespace }} {{ $labels.pod }} --previous` has its last words.',
    ],
  },
  {
    name: 'BerthProgramBusy',
    severity: 'warning',
    expr: 'nodejs_eventloop_lag_p99_seconds{job=~"berth-.+"} > 0.5',
    for: '15m',
    summary: '{{ $labels.pod }} is too busy to answer in time.',
    means: 'It has more to do than one core can, or is not given the core: everything of it is late.',
    runbook: [
      'Is its CPU limited, or the node full? `kubectl top pod -n {{ $labels.namespace }} {{ $labels.pod }}`',
      'The dashboard of the program shows what there is much of. More kas share their agents, more proxies their people; one operator leads.',
    ],
  },
  {
    name: 'BerthCertificateEndsSoon',
    severity: 'warning',
    expr: 'berth_certificate_expiration_timestamp_seconds{secret!="berth-authority"} - time() < 14 * 86400',
    for: '1h',
    summary: 'The certificate in Secret {{ $labels.secret }} ends in {{ $value | humanizeDuration }}.',
    means:
      "Berth renews its own 30 days before they end. When kas' ends, agents, workspaces and the operator do not trust it any more; when the proxy's ends, browsers do not.",
    runbook: [
      "Your own, or cert-manager's: renew it, or look at its Certificate.",
      `Berth's: ${logs('certificates')} says what is in its way.`,
    ],
  },
  {
    name: 'BerthAuthorityEndsSoon',
    severity: 'warning',
    expr: 'berth_certificate_expiration_timestamp_seconds{secret="berth-authority"} - time() < 365 * 86400',
    for: '1h',
    summary: "Berth's own authority ends in {{ $value | humanizeDuration }}.",
    means: 'It is not renewed by itself: every agent and every kubeconfig holds on to it.',
    runbook: [
      'docs/installation.md says how another takes its place. Agents are away until they have it: choose a day before long.',
    ],
  },
]

const CLUSTERS: Alert[] = [
  {
    name: 'BerthApiServerErrors',
    severity: 'warning',
    expr: 'sum by (job, pod) (rate(berth_api_requests_total{status=~"0|5.."}[10m])) / sum by (job, pod) (rate(berth_api_requests_total[10m])) > 0.05',
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of the requests of {{ $labels.pod }} to its API server fail.',
    means: 'The API server does not answer, or answers with errors. Everything is tried again, and late.',
    runbook: [
      '`kubectl get --raw /readyz?verbose`: is the API server well?',
      'Status 0 in the dashboard is no answer at all: the network, or a webhook that hangs.',
    ],
  },
  {
    name: 'BerthApiServerThrottles',
    severity: 'warning',
    expr: 'sum by (job, pod) (rate(berth_api_requests_total{status="429"}[10m])) > 0.1',
    for: '15m',
    summary: 'The API server asks {{ $labels.pod }} to wait.',
    means: 'API Priority and Fairness gives it no more. Everything is late.',
    runbook: [
      'Who asks so much? `kubectl get --raw /debug/api_priority_and_fairness/dump_requests`',
      'If it is Berth, look for a controller that reconciles without end in the dashboard.',
    ],
  },
  {
    name: 'BerthTargetsUnreachable',
    severity: 'warning',
    expr: 'sum(max by (reachable, reason) (berth_targets{reachable="False"})) / sum(max by (reachable, reason) (berth_targets{reason!="OwnCluster"})) > 0.5 and sum(max by (reachable, reason) (berth_targets{reason!="OwnCluster"})) >= 4',
    for: '15m',
    summary: '{{ $value | humanizePercentage }} of the DeploymentTargets do not answer the operator.',
    means: 'One cluster that is away concerns its own people; most of them point to a network.',
    runbook: [
      '`kubectl get dt -A -o wide` shows which, `kubectl describe dt NAME -n NAMESPACE` why.',
      "Can the operator's pods reach them: NetworkPolicies, an egress gateway, DNS?",
    ],
  },
]

const WORK: Alert[] = [
  {
    name: 'BerthInternalFailures',
    severity: 'warning',
    expr: 'sum by (job, controller) (increase(berth_reconcile_failures_total{code="internal"}[30m])) > 0',
    for: '0m',
    summary: 'Controller {{ $labels.controller }} fails in a way that nobody foresaw.',
    means: 'A mistake in Berth. The object concerned waits; others go on.',
    runbook: [
      `${logs('operator')} has lines of level \`error\` with the key of the object and the cause.`,
      'Report it with these lines.',
    ],
  },
  {
    name: 'BerthQueueWaits',
    severity: 'warning',
    expr: 'histogram_quantile(0.9, sum by (job, controller, le) (rate(berth_queue_wait_seconds_bucket[10m]))) > 30',
    for: '15m',
    summary: 'Objects wait {{ $value | humanizeDuration }} or more for controller {{ $labels.controller }}.',
    means: 'More changes than it gets done. Tenants take turns: who changes much waits longest.',
    runbook: [
      '`berth_reconcile_seconds` in the dashboard shows whether each takes long, `berth_reconciles_total` whether there are many.',
      'Each takes long: API servers that are slow, or targets. Many: somebody writes the same objects again and again.',
    ],
  },
  {
    name: 'BerthDriftWithoutEnd',
    severity: 'warning',
    expr: 'sum by (job) (increase(berth_gitops_drift_repairs_total[6h])) > 30',
    for: '0m',
    summary: '{{ $value | humanize }} times within six hours an object was set back.',
    means:
      'Somebody, most likely another controller, changes what Git says again and again. An object that is contested rests longer each time, up to ten minutes: one alone is set back some 36 times in six hours.',
    runbook: [
      '`kubectl get events -A --field-selector reason=DriftRepaired` names the objects that the operator set back. The condition `Fight` of the GitOpsDeployment names who changes them.',
      'An agent tells no Events: its ConfigMap of the inventory names the objects, and `kubectl get KIND NAME -o yaml --show-managed-fields` of one who else writes it.',
      'Take the fields that the other one sets out of Git, or list them under `spec.ignore` of the GitOpsDeployment.',
    ],
  },
]

const KAS: Alert[] = [
  {
    name: 'BerthAgentsLost',
    severity: 'warning',
    expr: 'sum(connected_agents_count{job="berth-kas"}) < 0.5 * max_over_time(sum(connected_agents_count{job="berth-kas"})[1d:5m]) and max_over_time(sum(connected_agents_count{job="berth-kas"})[1d:5m]) >= 4',
    for: '15m',
    summary: 'Less than half of the agents of the last day are connected: {{ $value }}, counted at each kas.',
    means:
      'What they have applied stays. Nothing new arrives in their clusters, and nobody reaches these through kas. Fewer kas than before look alike, for an agent has a connection to each.',
    runbook: [
      '`berth agent list -A` shows which.',
      'Is kas reachable from outside, by the name in its certificate? A load balancer that cuts idle connections shows as agents that come and go.',
    ],
  },
  {
    name: 'BerthGitServerUnreachable',
    severity: 'warning',
    expr: 'sum(berth_kas_repositories{outcome="Unreachable"}) / sum(berth_kas_repositories) > 0.5 and sum(berth_kas_repositories) >= 4',
    for: '30m',
    summary: '{{ $value | humanizePercentage }} of the repositories cannot be reached.',
    means: 'No new commits arrive from these servers. What was delivered stays.',
    runbook: [`${logs('kas')} names the servers.`, 'Can the pods of kas reach them: NetworkPolicies, a proxy, DNS?'],
  },
  {
    name: 'BerthKasDataFolder',
    severity: 'critical',
    expr: 'sum by (pod) (increase(berth_kas_fetches_total{outcome=~"DataFolder(Unwritable|Full)"}[15m])) > 0',
    for: '5m',
    summary: '{{ $labels.pod }} has no room for its copies of repositories, or cannot write them.',
    means: 'Commits that it does not have yet do not arrive.',
    runbook: [
      'The folder is full, or cannot be written: the volume `data` of the Deployment `kas`, `berth_kas_mirror_bytes` in the dashboard.',
      'Give the volume more room, and kas with it (`BERTH_MAX_DATA_SIZE` in `programs.kas.env`). Its content is a cache: deleting the pod empties it.',
    ],
  },
  {
    name: 'BerthKasBehindWithGit',
    severity: 'warning',
    expr: 'min_over_time(berth_kas_git_queue_length[15m]) > 0',
    for: '15m',
    summary: '{{ $labels.pod }} has not caught up with Git for half an hour.',
    means: 'Commits arrive late.',
    runbook: [
      '`berth_kas_fetch_duration_seconds` in the dashboard: a slow Git server, or repositories that are large?',
      'Give kas another core and a higher `BERTH_GIT_PROCESSES` (`programs.kas.env`), or let Git servers call its webhooks instead of polling often.',
    ],
  },
  {
    name: 'BerthKasFull',
    severity: 'warning',
    expr: 'sum by (pod) (increase(berth_kas_connections_refused_total{reason="full"}[15m])) > 0 or sum by (pod) (increase(berth_kas_kubernetes_api_connections_refused_total{reason="full"}[15m])) > 0',
    for: '5m',
    summary: '{{ $labels.pod }} refuses connections because it has as many as it may have.',
    means: 'Agents or people cannot connect to this kas.',
    runbook: [
      'Somebody who opens very many shows in `berth_kas_connections_refused_total` as `address-full`.',
      'Otherwise run more of kas (`programs.kas.replicas`), or let each have more (`BERTH_MAX_CONNECTIONS` in `programs.kas.env`).',
    ],
  },
  {
    name: 'BerthKasPeersDisagree',
    severity: 'warning',
    expr: 'sum by (pod) (increase(berth_kas_peer_failures_total{code="unauthorized"}[10m])) > 0',
    for: '10m',
    summary: '{{ $labels.pod }} is not let in by another kas.',
    means: 'Requests to agents that are connected to the other one fail.',
    runbook: [
      'Have they the same secret? After a change of Secret `kas-private-api`: `kubectl rollout restart deployment/kas -n berth-system`.',
      'Do the clocks of their nodes agree?',
    ],
  },
  {
    name: 'BerthKasRedisAway',
    severity: 'warning',
    expr: 'max by (pod) (berth_kas_redis_connected) == 0 or sum by (pod) (increase(berth_kas_redis_failures_total[10m])) > 0',
    for: '10m',
    summary: 'Redis is of no use to {{ $labels.pod }}.',
    means: 'Agents are found by asking every kas, up to a second later. Nothing is lost.',
    runbook: [
      `${logs('kas')} says what is in the way: \`Redis is of no use now\`.`,
      '`berth_kas_redis_failures_total` has the reason: `RedisPasswordWrong` and `RedisUntrusted` are about the Secret `kas-redis`, `RedisFull` is about the `maxmemory` of Redis.',
    ],
  },
]

/** Ingresses ask, or people come themselves. */
const proxied = (outcome: string, within: string) =>
  ['requests', 'consultations']
    .map((what) => `sum by (pod, outcome) (increase(berth_proxy_${what}_total{outcome="${outcome}"}[${within}])) > 0`)
    .join(' or ')
const OF_POD = '`kubectl logs -n berth-system {{ $labels.pod }} --since=1h`'

const PROXY: Alert[] = [
  {
    name: 'BerthProxyFails',
    severity: 'warning',
    expr: proxied('broken', '1h'),
    for: '0m',
    summary: '{{ $labels.pod }} fails in a way that nobody foresaw.',
    means: 'A mistake in Berth: people get an error page with a number.',
    runbook: [`${OF_POD} has the cause under the number of the page.`, 'Report it with these lines.'],
  },
  {
    name: 'BerthSignInAway',
    severity: 'critical',
    expr: proxied('sign-in-away', '15m'),
    for: '0m',
    summary: 'People cannot sign in to workspaces at {{ $labels.pod }}.',
    means: 'The identity provider does not answer the proxy. Who is signed in already works on.',
    runbook: [
      `${OF_POD} says what it asked and what it got.`,
      'Can the proxy reach the identity provider (`BERTH_OIDC_ISSUER`): NetworkPolicies, DNS, its certificate?',
    ],
  },
  {
    name: 'BerthAccessUndecided',
    severity: 'critical',
    expr: proxied('undecided', '15m'),
    for: '0m',
    summary: '{{ $labels.pod }} cannot decide who may open workspaces.',
    means:
      'The API server does not answer the proxy, which asks it about roles and sign-outs. People see "Nobody can tell just now".',
    runbook: [`${OF_POD} says what it asked and what it got.`, '`kubectl get --raw /readyz?verbose`: is the API server well?'],
  },
]

/** By the names of their groups. */
export const ALERTS: Record<string, readonly Alert[]> = {
  'berth-installation': INSTALLATION,
  'berth-programs': PROGRAMS,
  'berth-clusters': CLUSTERS,
  'berth-work': WORK,
  'berth-kas': KAS,
  'berth-proxy': PROXY,
}
