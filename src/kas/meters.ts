import type { Transfer } from '../adapters/git/index.ts'
import type { TurnedAway } from '../adapters/grpc/index.ts'
import type { Counter, Metrics } from '../adapters/http/index.ts'
import type { Sighting } from './ports.ts'

/** What kas counts. Labels have few values: no path, URL or name of a tenant is one. */
export interface Meters {
  looked(milliseconds: number): void
  found(sighting: Sighting): void
  transferred(transfer: Transfer): void
  delivered: Counter
  unchanged: Counter
  answered: Counter
  /** Calls of the external endpoint. */
  asked: Counter
  credentialed: Counter
  turnedAway(why: TurnedAway): void
  /** Both are read when somebody asks for the metrics. */
  connected(read: () => number): void
  watch(read: { waiting: () => number; bytes: () => number }): void
}

export function createMeters(metrics: Metrics): Meters {
  const polls = metrics.counter({ name: 'berth_kas_polls_total', help: 'Polls of repositories by outcome', labels: ['outcome'] })
  const pollTime = metrics.histogram({ name: 'berth_kas_poll_duration_seconds', help: 'How long Git servers took to list refs' })
  const fetches = metrics.counter({
    name: 'berth_kas_fetches_total',
    help: 'Transfers of commits by outcome',
    labels: ['outcome'],
  })
  const fetchTime = metrics.histogram({ name: 'berth_kas_fetch_duration_seconds', help: 'How long transfers took' })
  const fetchBytes = metrics.counter({ name: 'berth_kas_fetched_bytes_total', help: 'Bytes by which mirrors grew' })
  const turnedAway = metrics.counter({
    name: 'berth_kas_connections_refused_total',
    help: 'Connections of clients that were not taken or cut off, by what was wrong',
    labels: ['reason'],
  })
  return {
    looked: (milliseconds) => pollTime.observe(milliseconds / 1000),
    found: (sighting) => polls.add({ outcome: 'failure' in sighting ? (sighting.failure.reason ?? 'failed') : 'ok' }),
    transferred({ milliseconds, bytes, failure }) {
      fetches.add({ outcome: failure ? (failure.reason ?? 'failed') : 'ok' })
      fetchTime.observe(milliseconds / 1000)
      fetchBytes.add({}, bytes)
    },
    delivered: metrics.counter({ name: 'berth_kas_batches_total', help: 'Batches of objects that were delivered whole' }),
    unchanged: metrics.counter({ name: 'berth_kas_unchanged_total', help: 'New commits in which no chosen file had changed' }),
    answered: metrics.counter({ name: 'berth_kas_webhooks_total', help: 'Webhooks by status of the answer', labels: ['status'] }),
    asked: metrics.counter({
      name: 'berth_kas_external_calls_total',
      help: 'Calls of the external endpoint by outcome',
      labels: ['method', 'outcome'],
    }),
    credentialed: metrics.counter({
      name: 'berth_kas_git_credentials_total',
      help: 'Requests of workspaces for Git credentials by status of the answer',
      labels: ['status'],
    }),
    turnedAway: (why) => turnedAway.add({ reason: why }),
    connected(read) {
      metrics.gauge({ name: 'berth_kas_connections', help: 'Connections of clients that are open', read })
    },
    watch({ waiting, bytes }) {
      metrics.gauge({ name: 'berth_kas_git_queue_length', help: 'Work that waits until fewer git processes run', read: waiting })
      metrics.gauge({ name: 'berth_kas_mirror_bytes', help: 'Bytes of all mirrors on disk', read: bytes })
    },
  }
}
