import type { Agent } from '../../api/index.ts'
import type { Failure } from '../../std/index.ts'
import type { AccessRequest, Caller } from '../ports/ports.ts'
import { configurationProjectOf, type Project, type Projects } from '../projects/project.ts'
import { mayRead, refusal } from './grants.ts'
import { callerOf } from './identify.ts'

export interface ProjectQuery {
  caller: Caller
  wanted: Pick<AccessRequest, 'path' | 'projectUid'>
  /** The caller, where he is an agent; `undefined` when that is lost. */
  agent: Agent | undefined
}

/** The project that is meant, if the caller may read it. With a uid it is that one or none. */
export function findFor({ caller, wanted: { path, projectUid }, agent }: ProjectQuery, projects: Projects): Project | undefined {
  if (caller.kind === 'agent') {
    const project = agent && projectOf(agent, projects, path)
    return projectUid === undefined || project?.uid === projectUid ? project : undefined
  }
  const readable = (project: Project) => mayRead(caller, project)
  if (projectUid === undefined) return projects.named(path, caller.namespace).find(readable)
  // The operator has found it by its URL: whose path it is has no part in that.
  return projects.called(path).find((project) => project.uid === projectUid && readable(project))
}

/** Gives the project behind this path. The agent's own configuration is looked for where the Agent says, and nowhere else. */
export function projectOf(agent: Agent, projects: Projects, path: string): Project | undefined {
  const caller = callerOf(agent)
  const isConfiguration = agent.spec.configurationProject === path
  const meant = isConfiguration ? [configurationProjectOf(projects, agent)] : projects.named(path, caller.namespace)
  return meant.find((project) => project && mayRead(caller, project))
}

/** Says why the agent may not read the project that configures it; `undefined` when it may. */
export function configurationRefusal(agent: Agent, projects: Projects): Failure | undefined {
  const { configurationProject: path } = agent.spec
  return projectOf(agent, projects, path) ? undefined : refusal(callerOf(agent), path, true)
}
