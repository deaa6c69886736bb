import type { Metrics } from '../adapters/http/index.ts'

/** The proxy counts these. Labels have few values: no host, workspace or person is one. */
export function createMeters(metrics: Metrics) {
  const requests = metrics.counter({
    name: 'berth_proxy_requests_total',
    help: 'Requests and upgrades that are over: passed, or why not, by class of status',
    labels: ['outcome', 'status'],
  })
  const consultations = metrics.counter({
    name: 'berth_proxy_consultations_total',
    help: 'Questions of ingresses that were answered: passed, or why not, by class of status',
    labels: ['outcome', 'status'],
  })
  const time = metrics.histogram({
    name: 'berth_proxy_request_duration_seconds',
    help: 'How long they took, until the last byte',
  })
  const cut = metrics.counter({
    name: 'berth_proxy_cut_streams_total',
    help: 'What was open and ended because somebody may no longer: changed, signed-out or over',
    labels: ['why'],
  })
  for (const outcome of ['broken', 'sign-in-away', 'undecided'])
    for (const counter of [requests, consultations]) counter.add({ outcome, status: '5xx' }, 0)
  return {
    done(outcome: string, status: number, seconds: number) {
      requests.add({ outcome, status: `${Math.floor(status / 100)}xx` })
      // An upgraded connection lasts as long as somebody works.
      if (status !== 101) time.observe(seconds)
    },
    consulted: (outcome: string, status: number) => consultations.add({ outcome, status: `${Math.floor(status / 100)}xx` }),
    cut: (why: 'changed' | 'signed-out' | 'over') => cut.add({ why }),
    watch({ hosts, streams, viewers }: Record<'hosts' | 'streams' | 'viewers', () => number>) {
      const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help, read })
      gauge('berth_proxy_hosts', 'Hosts that lead to a port of a workspace', hosts)
      gauge('berth_proxy_open_streams', 'Requests and upgraded connections that are not over', streams)
      gauge('berth_proxy_dashboard_viewers', 'Pages of the dashboard that are kept up to date', viewers)
    },
  }
}
