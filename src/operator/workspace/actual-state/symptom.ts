import { type CoreEvent, type KubeObject, lastSaidAt } from '../../../api/index.ts'
import { beginningOf, minutes } from '../../../std/index.ts'
import type { TroubleReason } from './causes.ts'
import { type Evidence, type StepName, timeOf } from './evidence.ts'

/** Something that is wrong now, before it is judged how long that may last. */
export interface Symptom {
  reason: TroubleReason
  /** The object in trouble, by its name: the beginning of a sentence. */
  where: string
  container?: string | undefined
  /** Another step than the cause's. */
  step?: StepName | undefined
  /** The words of the cluster about it. */
  said: string
  /** How often it was tried already, where the cluster counts it. */
  tried?: string | undefined
  /** Since when, by the cluster's own times, milliseconds; it is remembered where the cluster does not say. */
  since?: number | undefined
  /** At the latest since then: one attempt of many. What is remembered may be older. */
  seenSince?: number | undefined
  /** No trouble is older than this: another pod has begun anew. */
  notBefore?: number | undefined
  /** Another than the cause's. */
  remedy?: string | undefined
  /** Another wait limit than the cause's. */
  waitLimit?: number | undefined
}

/** A text has the reason of the first pattern that fits. */
export type Patterns = readonly (readonly [RegExp, TroubleReason])[]

export function matchOf(patterns: Patterns, text: string): TroubleReason | undefined {
  const beginning = beginningOf(text)
  return patterns.find(([pattern]) => pattern.test(beginning))?.[1]
}

/** The kubelet says what still troubles it at the latest after two minutes again; what is older is over. */
const FRESH = minutes(5)

/** Warnings about one object that still count, the latest first. */
export function eventsOn({ metadata }: KubeObject, { events = [], now }: Evidence): CoreEvent[] {
  return events
    .filter(({ involvedObject: { uid } }) => uid !== undefined && uid === metadata.uid)
    .filter((event) => now - lastOf(event) <= FRESH)
    .sort((a, b) => lastOf(b) - lastOf(a))
}

const lastOf = (event: CoreEvent): number => timeOf(lastSaidAt(event)) ?? 0

export const firstOf = ({ firstTimestamp, eventTime, metadata }: CoreEvent): number | undefined =>
  timeOf(firstTimestamp ?? eventTime ?? metadata.creationTimestamp)

/** Undefined for the first time: there is nothing to count. */
export function timesOf({ count, series }: CoreEvent): string | undefined {
  const times = series?.count ?? count ?? 1
  return times > 1 ? `${times} attempts` : undefined
}
