/** What whoever runs Berth is to be told, and what to do then. deploy/monitoring/rules.yaml and docs/monitoring.md are made of it. */

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
const logs = (program: string) => `\`kubectl logs -n berth-system deployment/${program} --since=30m\``

const PROGRAMS: Alert[] = [
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
      `${logs('operator')} says what it waits for: the Lease \`berth-operator\`, kinds of its version, or an API server that answers.`,
      DOCTOR,
    ],
  },
  {
    name: 'BerthOperatorsBothLead',
    severity: 'critical',
    expr: 'sum(leader_election_master_status{name="berth-operator"}) > 1',
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
    expr: 'absent(connected_agents_count)',
    for: '5m',
    summary: 'No kas of Berth tells its metrics.',
    means: 'What runs goes on. There are no new commits, no Git credentials in workspaces, and no way to the clusters of agents.',
    runbook: [
      '`kubectl get pods -n berth-system -l app.kubernetes.io/name=berth-kas`: is one there?',
      `${logs('kas')}, and with \`--previous\` for one that ended.`,
      DOCTOR,
    ],
  },
  {
    name: 'BerthProgramNotReady',
    severity: 'warning',
    expr: 'berth_ready == 0',
    for: '10m',
    summary: '{{ $labels.pod }} is not ready.',
    means: 'This process does none of its work, and another has to do it, if there is one.',
    runbook: [
      'What it waits for is what `/readyz` answers: `kubectl describe pod -n {{ $labels.namespace }} {{ $labels.pod }}` has it in its Events.',
      'A kind that cannot be listed means missing rights, or kinds of another version: `berth doctor`. An agent waits for kas.',
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
    expr: 'berth_certificate_expiration_timestamp_seconds - time() < 14 * 86400',
    for: '1h',
    summary: 'The certificate in Secret {{ $labels.secret }} ends in {{ $value | humanizeDuration }}.',
    means:
      "Berth renews its own 30 days before they end. When kas' ends, agents, workspaces and the operator do not trust it any more; when the proxy's ends, browsers do not.",
    runbook: [
      "Your own, or cert-manager's: renew it, or look at its Certificate.",
      `Berth's: ${logs('certificates')} says what is in its way.`,
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
      'Who asks so much? `kubectl get --raw /debug/api_priority_and_fairness/dump_priority_levels`',
      'If it is Berth, look for a controller that reconciles without end in the dashboard.',
    ],
  },
  {
    name: 'BerthTargetsUnreachable',
    severity: 'warning',
    expr: 'sum(max by (reason) (berth_objects{kind="DeploymentTarget", reason="NoAnswer"})) / sum(max by (ready, reason) (berth_objects{kind="DeploymentTarget"})) > 0.5',
    for: '15m',
    summary: '{{ $value | humanizePercentage }} of the DeploymentTargets do not answer the operator.',
    means: 'One cluster that is away concerns its own people; most of them point to a network.',
    runbook: [
      '`kubectl get dt -A` shows which, and their messages why.',
      "Can the operator's pods reach them: NetworkPolicies, an egress gateway, DNS?",
    ],
  },
]

const WORK: Alert[] = [
  {
    name: 'BerthInternalFailures',
    severity: 'warning',
    expr: 'sum by (job, controller) (increase(berth_reconcile_failures_total{code="internal"}[15m])) > 0',
    for: '15m',
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
    expr: 'sum by (job) (increase(berth_gitops_drift_repairs_total[1h])) > 600',
    for: '1h',
    summary: 'Objects are set back {{ $value | humanize }} times an hour.',
    means: 'Somebody, most likely another controller, changes what Git says as often as Berth sets it back.',
    runbook: [
      '`kubectl get events -A --field-selector reason=DriftRepaired` names the objects.',
      'Take the fields that the other one sets out of Git, or list them under `spec.ignore` of the GitOpsDeployment. The condition `Fight` names who it is.',
    ],
  },
]

const KAS: Alert[] = [
  {
    name: 'BerthAgentsLost',
    severity: 'warning',
    expr: 'sum(connected_agents_count) < 0.5 * max_over_time(sum(connected_agents_count)[1h:1m]) and max_over_time(sum(connected_agents_count)[1h:1m]) >= 4',
    for: '10m',
    summary: 'Of the agents of the last hour only {{ $value }} are connected.',
    means: 'What they have applied stays. Nothing new arrives in their clusters, and nobody reaches these through kas.',
    runbook: [
      '`berth agent list -A` shows which, and since when.',
      'Is kas reachable from outside, by the name in its certificate? A load balancer that cuts idle connections shows as agents that come and go.',
    ],
  },
  {
    name: 'BerthGitServerUnreachable',
    severity: 'warning',
    expr: 'sum(rate(berth_kas_polls_total{outcome="Unreachable"}[15m])) / sum(rate(berth_kas_polls_total[15m])) > 0.5',
    for: '30m',
    summary: '{{ $value | humanizePercentage }} of the looks at repositories get no answer.',
    means: 'No new commits arrive from these servers. What was delivered stays.',
    runbook: [`${logs('kas')} names the servers.`, 'Can the pods of kas reach them: NetworkPolicies, a proxy, DNS?'],
  },
  {
    name: 'BerthKasDataFolder',
    severity: 'critical',
    expr: 'sum by (pod) (increase(berth_kas_fetches_total{outcome="DataFolderUnwritable"}[15m])) > 0',
    for: '5m',
    summary: '{{ $labels.pod }} cannot write its copies of repositories.',
    means: 'Commits that it does not have yet do not arrive.',
    runbook: [
      'The folder is full, or cannot be written: the volume `data` of the Deployment `kas`, `berth_kas_mirror_bytes` in the dashboard.',
      'Give the volume more room. Its content is a cache: deleting the pod empties it.',
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
      'Give kas another core and a higher `BERTH_GIT_PROCESSES`, or let Git servers call its webhooks instead of polling often.',
    ],
  },
  {
    name: 'BerthKasFull',
    severity: 'warning',
    expr: 'sum by (pod) (increase(berth_kas_connections_refused_total{reason="full"}[10m])) > 0 or sum by (pod) (increase(berth_kas_kubernetes_api_connections_refused_total{reason="full"}[10m])) > 0',
    for: '5m',
    summary: '{{ $labels.pod }} refuses connections because it has as many as it may have.',
    means: 'Agents or people cannot connect to this kas.',
    runbook: [
      'Somebody who opens very many shows in `berth_kas_connections_refused_total` as `address-full`.',
      'Otherwise run more of kas: `programs.kas.replicas`.',
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
]

const PROXY: Alert[] = [
  {
    name: 'BerthProxyFails',
    severity: 'warning',
    expr: 'sum by (pod) (increase(berth_proxy_requests_total{outcome="broken"}[10m])) > 0',
    for: '10m',
    summary: '{{ $labels.pod }} fails in a way that nobody foresaw.',
    means: 'A mistake in Berth: people get an error page with a number.',
    runbook: [`${logs('proxy')} has the cause under the number of the page.`, 'Report it with these lines.'],
  },
  {
    name: 'BerthSignInAway',
    severity: 'critical',
    expr: 'sum(increase(berth_proxy_requests_total{outcome="sign-in-away"}[5m])) > 0',
    for: '5m',
    summary: 'Nobody can sign in to workspaces.',
    means: 'The identity provider does not answer the proxy. Who is signed in already works on.',
    runbook: [
      `${logs('proxy')} says what it asked and what it got.`,
      'Can the proxy reach the identity provider (`BERTH_OIDC_ISSUER`): NetworkPolicies, DNS, its certificate?',
    ],
  },
]

/** By the names of their groups. */
export const ALERTS: Record<string, readonly Alert[]> = {
  'berth-programs': PROGRAMS,
  'berth-clusters': CLUSTERS,
  'berth-work': WORK,
  'berth-kas': KAS,
  'berth-proxy': PROXY,
}
