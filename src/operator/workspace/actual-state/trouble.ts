import { minutes, seconds } from '../../../std/index.ts'
import { CAUSES, causeOf } from './causes.ts'
import { type Evidence, type StepName, timeOf } from './evidence.ts'
import type { Symptom } from './symptom.ts'

/** Why a workspace is not what it should be, as people are told it. */
export interface Trouble {
  /** CamelCase word. */
  reason: string
  step: StepName
  container?: string | undefined
  /** One sentence that names the object and its trouble. */
  cause: string
  /** The words of the cluster about it. */
  message: string
  /** How often it was tried already; undefined where there was nothing to try. */
  tried?: string | undefined
  /** One sentence, or a few. */
  remedy: string
  /** Since when, milliseconds. */
  since: number
  /** Until when it is waited for; undefined where nothing ends the wait. */
  until?: number | undefined
  /** It has been waited for long enough, or cannot pass by itself: the workspace is Failed. */
  fatal: boolean
}

/** Judges a symptom by how long it may last. `isDeadlinePassed`: the Deployment's own deadline has passed. */
export function judged(symptom: Symptom, { now, before }: Evidence, isDeadlinePassed: boolean): Trouble {
  const { step, what, ...usual } = causeOf(symptom.reason)
  const { reason, where, said, container, notBefore = 0, waitLimit = usual.waitLimit, remedy = usual.remedy } = symptom
  const since = Math.max(symptom.since ?? Math.min(rememberedIn(before, step) ?? now, symptom.seenSince ?? now), notBefore)
  const until = Number.isFinite(waitLimit) ? since + waitLimit : undefined
  const isOverdue = until !== undefined && now >= until
  const fatal = isDeadlinePassed || isOverdue
  const waited = isOverdue && waitLimit > 0 ? `waited ${durationInWords(waitLimit)}` : undefined
  return {
    reason,
    step: symptom.step ?? step,
    ...(container !== undefined && { container }),
    cause: `${where} ${what}`,
    message: said.replace(/\s+/g, ' ').trim(),
    tried: [symptom.tried, waited].filter(Boolean).join(', ') || undefined,
    remedy,
    since,
    until,
    fatal,
  }
}

/** Words for the same trouble change from attempt to attempt; so what counts is since when there is one in this step. */
function rememberedIn(before: Evidence['before'], step: StepName): number | undefined {
  const last = before?.waiting ?? before?.failure
  return stepOfReason(last?.reason) === step ? timeOf(last?.since) : undefined
}

const stepOfReason = (reason = ''): StepName | undefined => Object.entries(CAUSES).find(([name]) => name === reason)?.[1].step

export function durationInWords(ms: number): string {
  const [count, unit] = ms < minutes(1) ? [ms / seconds(1), 'second'] : [ms / minutes(1), 'minute']
  return `${Math.round(count)} ${unit}${Math.round(count) === 1 ? '' : 's'}`
}
