import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from 'prom-client'

export interface Naming {
  name: string
  help: string
  labels?: readonly string[]
}

type Labels = Record<string, string>

export interface Counter {
  /** With 0 the series is there from the beginning. Alerts that look at how one grows need that: from nothing to one is no growth to Prometheus. */
  add(labels?: Labels, by?: number): void
}

export interface Gauge {
  set(value: number, labels?: Labels): void
  /** Forgets the series of something that is gone. */
  remove(labels: Labels): void
}

/** Asked whenever somebody reads the metrics: one value, or all series that there are then. */
export type Reading = () => number | readonly { labels: Labels; value: number }[]

export interface Histogram {
  /** Seconds, as Prometheus counts time. */
  observe(value: number, labels?: Labels): void
}

/** The numbers of one program. Two programs in one process have two of these and share nothing. */
export interface Metrics {
  counter(naming: Naming): Counter
  gauge(naming: Naming & { read?: Reading }): Gauge
  histogram(naming: Naming & { buckets?: number[] }): Histogram
  /** In the text format of Prometheus. */
  render(): Promise<string>
  readonly contentType: string
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

function fill(gauge: PromGauge, found: ReturnType<Reading>): void {
  const series = typeof found === 'number' ? [{ labels: {}, value: found }] : found
  gauge.reset()
  for (const { labels, value } of series) gauge.set(labels, value)
}

/** `process`: also the memory, CPU and event loop of this process; off in tests, which have many programs in one. */
export function createMetrics({ process = false } = {}): Metrics {
  const registry = new Registry()
  if (process) collectDefaultMetrics({ register: registry })
  const common = ({ name, help, labels = [] }: Naming) => ({ name, help, labelNames: [...labels], registers: [registry] })
  return {
    counter(naming) {
      const counter = new PromCounter(common(naming))
      return { add: (labels = {}, by = 1) => counter.inc(labels, by) }
    },
    gauge({ read, ...naming }) {
      const gauge: PromGauge = new PromGauge({ ...common(naming), ...(read ? { collect: () => fill(gauge, read()) } : {}) })
      return { set: (value, labels = {}) => gauge.set(labels, value), remove: (labels) => gauge.remove(labels) }
    },
    histogram({ buckets = SECONDS, ...naming }) {
      const histogram = new PromHistogram({ ...common(naming), buckets })
      return { observe: (value, labels = {}) => histogram.observe(labels, value) }
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
