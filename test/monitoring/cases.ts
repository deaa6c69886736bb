/** For each alert, series with which it is told, and such with which it is not: as promtool writes them, a value a minute. */

interface Case {
  fires: Record<string, string>
  rests: Record<string, string>
  /** Minutes after which it is looked at. */
  at: number
}

const OPERATOR = 'leader_election_master_status{name="berth-operator",pod="a"}'
const OTHER = 'leader_election_master_status{name="berth-operator",pod="b"}'
const requests = (status: string) => `berth_api_requests_total{job="berth-kas",pod="a",verb="get",status="${status}"}`
const targets = (reachable: string, reason: string) => `berth_targets{reachable="${reachable}",reason="${reason}",pod="a"}`
const repositories = (outcome: string) => `berth_kas_repositories{outcome="${outcome}",pod="a"}`
const agents = (pod: string, job = 'berth-kas') => `connected_agents_count{job="${job}",pod="${pod}"}`
const up = (job: string, pod = 'a') => `up{job="${job}",pod="${pod}"}`
const expiration = (secret: string) => `berth_certificate_expiration_timestamp_seconds{secret="${secret}"}`
const waits = (le: string) => `berth_queue_wait_seconds_bucket{job="berth-operator",controller="environment",le="${le}"}`
const proxied = (outcome: string, what = 'requests') => `berth_proxy_${what}_total{outcome="${outcome}",status="5xx",pod="a"}`
const growing = (by: number) => `0+${by}x300`
const still = (value: number) => `${value}x300`
const once = '0x9 1x300'
const DAY = 86_400

export const CASES: Record<string, Case> = {
  BerthOperatorAway: {
    at: 10,
    fires: { [OPERATOR]: still(0), [OTHER]: still(0) },
    rests: { [OPERATOR]: still(0), [OTHER]: still(1) },
  },
  BerthOperatorsBothLead: {
    at: 10,
    fires: { [OPERATOR]: still(1), [OTHER]: still(1) },
    // One pod that is read twice is one.
    rests: { [OPERATOR.replace('}', ',job="again"}')]: '1 1 1 1 0x300', [OPERATOR]: '1 1 1 1 0x300', [OTHER]: '0 0 0 1 1x300' },
  },
  BerthKasAway: {
    at: 10,
    fires: { [up('berth-kas')]: still(0), [up('gitlab-kas')]: still(1) },
    rests: { [up('berth-kas')]: still(0), [up('berth-kas', 'b')]: still(1) },
  },
  BerthProgramAway: {
    at: 60,
    fires: { [up('berth-proxy')]: '1x9 _x300', [up('berth-proxy', 'b')]: '1x9 0x300' },
    rests: { [up('berth-proxy')]: '1x9 _x300', [up('berth-proxy', 'b')]: still(1) },
  },
  BerthProgramNotReady: {
    at: 15,
    fires: { 'berth_ready{pod="a"}': still(0) },
    rests: { 'berth_ready{pod="a"}': '0 0 0 1x300' },
  },
  BerthProgramUnreachable: {
    at: 15,
    fires: { [up('berth-kas')]: still(0) },
    rests: { [up('berth-kas')]: still(1), [up('others')]: still(0) },
  },
  BerthProgramRestarts: {
    at: 60,
    fires: { 'process_start_time_seconds{job="berth-kas",pod="a"}': '1x9 2x9 3x9 4x9 5x300' },
    rests: { 'process_start_time_seconds{job="berth-kas",pod="a"}': '1x9 2x300' },
  },
  BerthProgramBusy: {
    at: 20,
    fires: { 'nodejs_eventloop_lag_p99_seconds{job="berth-kas",pod="a"}': still(0.8) },
    rests: { 'nodejs_eventloop_lag_p99_seconds{job="berth-kas",pod="a"}': '0.8x9 0.02x300' },
  },
  BerthCertificateEndsSoon: {
    at: 90,
    // Time begins in 1970 here.
    fires: { [expiration('kas-tls')]: still(10 * DAY) },
    rests: { [expiration('kas-tls')]: still(30 * DAY), [expiration('berth-authority')]: still(10 * DAY) },
  },
  BerthAuthorityEndsSoon: {
    at: 90,
    fires: { [expiration('berth-authority')]: still(300 * DAY) },
    rests: { [expiration('berth-authority')]: still(500 * DAY), [expiration('kas-tls')]: still(30 * DAY) },
  },
  BerthApiServerErrors: {
    at: 30,
    fires: { [requests('200')]: growing(60), [requests('503')]: growing(3), [requests('0')]: growing(3) },
    rests: { [requests('200')]: growing(60), [requests('404')]: growing(60), [requests('0')]: growing(1) },
  },
  BerthApiServerThrottles: {
    at: 40,
    fires: { [requests('429')]: growing(30) },
    rests: { [requests('429')]: growing(1), [requests('200')]: growing(6000) },
  },
  BerthTargetsUnreachable: {
    at: 20,
    fires: { [targets('True', 'Answers')]: still(2), [targets('False', 'NoAnswer')]: still(3) },
    rests: {
      [targets('True', 'OwnCluster')]: still(9),
      [targets('True', 'Answers')]: still(1),
      [targets('False', 'NoAnswer')]: still(2),
    },
  },
  BerthInternalFailures: {
    at: 30,
    fires: { 'berth_reconcile_failures_total{job="berth-operator",controller="environment",code="internal"}': once },
    rests: { 'berth_reconcile_failures_total{job="berth-operator",controller="environment",code="invalid"}': growing(9) },
  },
  BerthQueueWaits: {
    at: 40,
    fires: { [waits('1')]: growing(1), [waits('60')]: growing(10), [waits('+Inf')]: growing(10) },
    rests: { [waits('1')]: growing(9), [waits('60')]: growing(9), [waits('+Inf')]: growing(9) },
  },
  BerthDriftWithoutEnd: {
    at: 290,
    fires: { 'berth_gitops_drift_repairs_total{job="berth-operator"}': '0+1x50 50x300' },
    rests: { 'berth_gitops_drift_repairs_total{job="berth-operator"}': '0+1x20 20x300' },
  },
  BerthAgentsLost: {
    at: 60,
    fires: { [agents('a')]: '5x30 2x300', [agents('b')]: '5x30 0x300', [agents('c', 'gitlab-kas')]: still(90) },
    rests: { [agents('a')]: '5x30 10x300', [agents('b')]: '5x30 0x300' },
  },
  BerthGitServerUnreachable: {
    at: 60,
    fires: { [repositories('ok')]: still(1), [repositories('Unreachable')]: still(3) },
    rests: {
      [repositories('ok')]: still(3),
      [repositories('Unreachable')]: still(3),
      [repositories('RepositoryNotFound')]: still(9),
    },
  },
  BerthKasDataFolder: {
    at: 30,
    fires: { 'berth_kas_fetches_total{outcome="DataFolderFull",pod="a"}': growing(1) },
    rests: { 'berth_kas_fetches_total{outcome="Unreachable",pod="a"}': growing(1) },
  },
  BerthKasBehindWithGit: {
    at: 45,
    fires: { 'berth_kas_git_queue_length{pod="a"}': still(3) },
    rests: { 'berth_kas_git_queue_length{pod="a"}': '9x9 0 9x9 0 9x9 0 9x9' },
  },
  BerthKasFull: {
    at: 20,
    fires: { 'berth_kas_kubernetes_api_connections_refused_total{reason="full",pod="a"}': growing(1) },
    rests: { 'berth_kas_connections_refused_total{listener="agents",reason="slow",pod="a"}': growing(9) },
  },
  BerthKasPeersDisagree: {
    at: 30,
    fires: { 'berth_kas_peer_failures_total{code="unauthorized",pod="a"}': growing(1) },
    rests: { 'berth_kas_peer_failures_total{code="unavailable",pod="a"}': growing(9) },
  },
  BerthKasRedisAway: {
    at: 30,
    fires: { 'berth_kas_redis_connected{pod="a"}': '1 0x40', 'berth_kas_redis_connected{pod="b"}': '1x40' },
    rests: { 'berth_kas_redis_connected{pod="a"}': '1x40', 'berth_kas_redis_failures_total{pod="a",reason="RedisFull"}': '3x40' },
  },
  BerthProxyFails: { at: 30, fires: { [proxied('broken')]: once }, rests: { [proxied('no-answer')]: growing(9) } },
  BerthSignInAway: { at: 15, fires: { [proxied('sign-in-away')]: once }, rests: { [proxied('undecided')]: growing(9) } },
  BerthAccessUndecided: {
    at: 15,
    fires: { [proxied('undecided', 'consultations')]: once },
    rests: { [proxied('sign-in-away')]: growing(9) },
  },
}
