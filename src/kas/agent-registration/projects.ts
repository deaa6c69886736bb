import { type AgentStatus, NOT_REPORTED } from '../../api/index.ts'
import { beginningOf } from '../../std/index.ts'
import type { ServedProject } from '../ports/ports.ts'
import { sentenceOf } from '../ports/refusals.ts'
import type { AgentReport } from './report.ts'

type ShownProject = NonNullable<AgentStatus['projects']>[number]

export interface ProjectFacts {
  report: AgentReport | undefined
  /** What was given to an agent that does not report, or refused, since the last report. */
  served: readonly ServedProject[]
  /** Paths of the projects in the configuration; `undefined` when this kas has not read it since. */
  configured: readonly string[] | undefined
  /** True when each of the connected pods is known to be of an agent that does not report. */
  isSilent: boolean
}

/** As many as a status has room for. */
const MOST = 256
const LONGEST = 1024

/**
 * What a report says holds until the next one, through whatever happens to connections and pods; it holds no more when an agent
 * that does not report is in charge, which is seen by what it asks for, or by there being no other.
 */
export function projectsAfter({ projects: before = [] }: AgentStatus, facts: ProjectFacts): readonly ShownProject[] {
  const { report, served, configured, isSilent } = facts
  if (report) return report.projects
  if (served.length === 0 && !isSilent) return before
  const known = new Map(before.map((project) => [project.id, project]))
  const news = new Map(served.map((one) => [one.path, one]))
  const ids = configured ?? new Set([...known.keys(), ...news.keys()])
  return [...ids].slice(0, MOST).map((id) => {
    const [one, project] = [news.get(id), known.get(id)]
    if (one) return servedProject(one)
    // A report counts the objects of each project; what is said here never does.
    return project && (project.objects === undefined || project.removed) ? project : servedProject({ path: id })
  })
}

function servedProject({ path, commit, failure }: ServedProject): ShownProject {
  const unknown = { id: path, health: 'Unknown' as const }
  if (failure) {
    const message = `${sentenceOf(failure, 'Internal error; the cause is in the log of kas')} What is in effect is not known: the agent does not report.`
    return { ...unknown, reason: failure.reason ?? 'SourceUnavailable', message: beginningOf(message, LONGEST) }
  }
  const what = commit === undefined ? '' : `kas gave it commit ${commit.slice(0, 12)}. `
  const message = `${what}The agent that is connected does not report what it applies, as GitLab's does not: look at the objects, or at its log.`
  return { ...unknown, reason: NOT_REPORTED, message }
}
