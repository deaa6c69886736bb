import type { Metrics } from '../adapters/http/index.ts'

/** What the proxy counts. Labels have few values: no host, workspace or person is one. */
export interface Meters {
  done(outcome: string, status: number, seconds: number): void
  consulted(outcome: string, status: number, seconds: number): void
  cut(why: 'changed' | 'signed-out' | 'over'): void
  watch(read: { hosts: () => number; streams: () => number; viewers: () => number }): void
}

export function createMeters(metrics: Metrics): Meters {
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
  return {
    done(outcome, status, seconds) {
      requests.add({ outcome, status: `${Math.floor(status / 100)}xx` })
      // What is upgraded lasts as long as somebody works.
      if (status !== 101) time.observe(seconds)
    },
    consulted: (outcome, status) => consultations.add({ outcome, status: `${Math.floor(status / 100)}xx` }),
    cut: (why) => cut.add({ why }),
    watch({ hosts, streams, viewers }) {
      metrics.gauge({ name: 'berth_proxy_hosts', help: 'Hosts that lead to a port of a workspace', read: hosts })
      metrics.gauge({
        name: 'berth_proxy_open_streams',
        help: 'Requests and upgraded connections that are not over',
        read: streams,
      })
      metrics.gauge({
        name: 'berth_proxy_dashboard_viewers',
        help: 'Pages of the dashboard that are kept up to date',
        read: viewers,
      })
    },
  }
}
