import { type Kind, type KubeObject, refOf, typeMetaOf } from '../../api/index.ts'
import { type Clock, createTally, Failure, type Log, minutes, seconds, timestamp } from '../../std/index.ts'
import type { Kube } from './kube.ts'
import { titleOf } from './left-out.ts'

export interface Occurrence {
  type: 'Normal' | 'Warning'
  /** CamelCase word: `Bound`, `TargetMissing`. */
  reason: string
  message: string
}

export type EventRecorder = ReturnType<typeof createEventRecorder>

interface EventObject extends KubeObject {
  count: number
}

const EventKind: Kind<EventObject> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }

interface Series {
  about: KubeObject
  occurrence: Occurrence
  ref: { name: string; namespace: string }
  first: number
  last: number
  count: number
  /** The API knows of so many of `count`. */
  written: number
  /** When it was last handed over to be written. */
  asked: number
  busy: boolean
}

/** An occurrence that comes again within this time is the same series. */
const SERIES = minutes(10)
/** A series is written at once the first time, then at most this often. */
const QUIET = seconds(15)
/** Per object: more than this many different series in SERIES are dropped, as client-go's spam filter does. */
const MOST_PER_OBJECT = 25
const IN_FLIGHT = 8

/** Events for people. Recording never fails and never waits; the same occurrence again only raises a count. */
export function createEventRecorder({ kube, clock, log, reporter }: { kube: Kube; clock: Clock; log: Log; reporter: string }) {
  const series = new Map<string, Series>()
  const perObject = createTally()
  const waiting: Series[] = []
  const flying = new Set<Promise<void>>()

  const forgetOld = (now: number) => {
    for (const [key, { last, about, busy }] of series) {
      if (busy || now - last < SERIES) break
      series.delete(key)
      perObject.add(about.metadata.uid ?? '', -1)
    }
  }

  const pump = () => {
    while (flying.size < IN_FLIGHT) {
      const next = waiting.shift()
      if (!next) return
      const flight = write(kube, next, reporter)
        .catch((thrown: unknown) => log.debug('event not written', { event: next.ref.name, failure: Failure.from(thrown) }))
        .finally(() => {
          next.busy = false
          flying.delete(flight)
          pump()
        })
      flying.add(flight)
    }
  }

  const enqueue = (entry: Series) => {
    if (entry.busy) return
    Object.assign(entry, { busy: true, asked: clock.now() })
    waiting.push(entry)
    pump()
  }

  return {
    record(about: KubeObject, occurrence: Occurrence): void {
      const now = clock.now()
      forgetOld(now)
      const uid = about.metadata.uid ?? ''
      const key = `${uid} ${occurrence.type} ${occurrence.reason} ${occurrence.message}`
      const known = series.get(key)
      if (known) {
        known.count++
        known.last = now
        // The front is where it is looked for what may be forgotten.
        series.delete(key)
        series.set(key, known)
        if (now - known.asked >= QUIET) enqueue(known)
        return
      }
      if (perObject.of(uid) >= MOST_PER_OBJECT) return
      perObject.add(uid, 1)
      const entry: Series = {
        about: titleOf(about),
        occurrence: { ...occurrence, message: occurrence.message.slice(0, 1024) },
        ref: nameFor(about, now),
        first: now,
        last: now,
        count: 1,
        written: 0,
        asked: now,
        busy: false,
      }
      series.set(key, entry)
      enqueue(entry)
    },
    /** Everything recorded so far is written. */
    async flush(): Promise<void> {
      while (flying.size > 0) await Promise.all(flying)
    },
  }
}

function nameFor(about: KubeObject, now: number): Series['ref'] {
  const { name, namespace } = refOf(about)
  const random = Math.floor(Math.random() * 0xff_ff_ff_ff).toString(16)
  return { name: `${name.slice(0, 200)}.${now.toString(16)}${random}`, namespace: namespace ?? 'default' }
}

async function write(kube: Kube, entry: Series, reporter: string): Promise<void> {
  const { count, last, ref } = entry
  if (entry.written === 0) await kube.create(EventKind, render(entry, reporter))
  else await kube.patch(EventKind, ref, { count, lastTimestamp: timestamp(last) })
  entry.written = count
}

function render({ about, occurrence, ref, first, last, count }: Series, reporter: string): EventObject {
  const { metadata, apiVersion, kind } = about
  const event = {
    ...typeMetaOf(EventKind),
    metadata: ref,
    involvedObject: {
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    },
    ...occurrence,
    source: { component: reporter },
    firstTimestamp: timestamp(first),
    lastTimestamp: timestamp(last),
    count,
    reportingComponent: reporter,
    reportingInstance: reporter,
  }
  return event
}
