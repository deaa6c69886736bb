/** The metrics of docs/metrics.md, which a test holds against those that the programs export. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Metric {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  labels: string[]
  meaning: string
}

const PAGE = join(import.meta.dirname, '../../docs/metrics.md')
const ROW = /^\| `([a-z0-9_<>]+)` \| (counter|gauge|histogram) \| ([^|]*)\| (.*) \|$/

export function readMetrics(): Metric[] {
  return readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name = '', type, labels = '', meaning = ''] = ROW.exec(line) ?? []
      if (type !== 'counter' && type !== 'gauge' && type !== 'histogram') return []
      return [{ name, type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label), meaning }]
    })
}
