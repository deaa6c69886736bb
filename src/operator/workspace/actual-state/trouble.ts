import { minutes, seconds } from '../../../std/index.ts'
import { CAUSES, causeOf } from './causes.ts'
import { type Evidence, type StepName, timeOf } from './evidence.ts'
import type { Finding } from './finding.ts'

/** Why a workspace is not what it should be, as people are told it. */
export interface Trouble {
  /** CamelCase word. */
  reason: string
  step: StepName
  container?: string | undefined
  /** One sentence: what is in trouble, and which. */
  cause: string
  /** What the cluster says of it. */
  message: string
  /** What was tried already; undefined where there was nothing to try. */
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

/** What was found, judged by how long it may last. `isOver`: the Deployment's own deadline has passed. */
export function judged(finding: Finding, { now, before }: Evidence, isOver: boolean): Trouble {
  const { step, what, remedy, patience: usual } = causeOf(finding.reason)
  const { reason, where, said, container, notBefore = 0, patience = usual } = finding
  const since = Math.max(finding.since ?? rememberedIn(before, step) ?? now, notBefore)
  const until = Number.isFinite(patience) ? since + patience : undefined
  const fatal = isOver || (until !== undefined && now >= until)
  const waited = fatal && patience > 0 && until !== undefined && now >= until ? `waited ${spelled(patience)}` : undefined
  return {
    reason,
    step: finding.step ?? step,
    ...(container !== undefined && { container }),
    cause: `${where} ${what}`,
    message: said.replace(/\s+/g, ' ').trim(),
    tried: [finding.tried, waited].filter(Boolean).join(', ') || undefined,
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

export function spelled(ms: number): string {
  const [count, unit] = ms < minutes(1) ? [ms / seconds(1), 'second'] : [ms / minutes(1), 'minute']
  return `${Math.round(count)} ${unit}${Math.round(count) === 1 ? '' : 's'}`
}
