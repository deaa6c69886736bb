import type { AgentStatus } from '../../api/index.ts'
import type { ReportRequest } from '../../rpc/index.ts'
import { timestamp } from '../../std/index.ts'
import { clean } from './pod.ts'

/** An agent's report of its work, cut to the size that a status has room for. Nothing else of a report is kept. */
export interface AgentReport {
  readonly projects: NonNullable<AgentStatus['projects']>
  /** Why it does not take its configuration; empty when it does. */
  readonly refusal: string
}

const HEALTHS = ['Healthy', 'Progressing', 'Degraded', 'Suspended', 'Missing', 'Unknown'] as const
const MOST_PROJECTS = 256
const LONGEST = 1024
/** Characters of all messages: a status is written whole whenever something in it changes. */
const MOST_TEXT = 64 * 1024

export function agentReportFrom({ projects, configurationError }: ReportRequest): AgentReport {
  const seen = new Map(projects.slice(0, MOST_PROJECTS).map((project) => [clean(project.id, 255), project]))
  let room = MOST_TEXT
  const short = (text: string): string => {
    const kept = clean(text, Math.min(LONGEST, room))
    room -= kept.length
    return kept
  }
  return {
    projects: [...seen].map(([id, project]) => shown(id, project, short(project.message))),
    refusal: clean(configurationError, LONGEST),
  }
}

type Reported = ReportRequest['projects'][number]

const shown = (id: string, project: Reported, message: string): AgentReport['projects'][number] => {
  const { commitId, objects, undone, health, reason, syncedAt, removed } = project
  return {
    id,
    ...(commitId ? { commit: clean(commitId, 64) } : {}),
    objects,
    ...(undone > 0 ? { undone } : {}),
    health: HEALTHS.find((one) => one === health) ?? 'Unknown',
    ...(reason ? { reason: clean(reason, 128) } : {}),
    ...(message ? { message } : {}),
    ...(syncedAt && isTime(syncedAt.seconds) ? { syncedAt: timestamp(Number(syncedAt.seconds) * 1000) } : {}),
    ...(removed ? { removed } : {}),
  }
}

/** Until the year 9999, which is as far as the API server reads. */
const isTime = (at: bigint): boolean => at > 0n && at < 253_402_300_800n
