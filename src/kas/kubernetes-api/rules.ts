import { type Agent, refOf } from '../../api/index.ts'
import type { ConfigurationFile, Impersonation } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import type { Develops } from '../projects/develop.ts'
import { numberOf } from '../projects/number.ts'
import { configurationProjectOf, type Project, type Projects } from '../projects/project.ts'
import type { TokenOwner } from './people.ts'

/** As whom somebody may act in the cluster of an agent. Without an impersonation: as the agent itself. */
export interface Right {
  readonly by: 'ci_access' | 'user_access' | 'spaces'
  readonly impersonation: Impersonation | undefined
}

export interface AccessSituation {
  agent: Agent
  configuration: ConfigurationFile
  person: TokenOwner
  projects: Projects
  develops: Develops
}

interface Rules {
  agent: Agent
  configuration: ConfigurationFile | undefined
}

/** The paths of projects, and of groups, that an agent's configuration names. */
const namedIn = ({ ciAccess, userAccess }: Partial<ConfigurationFile> = {}) => ({
  projects: [...(ciAccess?.projects ?? []), ...(userAccess?.projects ?? [])].map(({ id }) => id),
  groups: (ciAccess?.groups ?? []).map(({ id }) => id),
})

/** True when a project of one of these paths may have a part in a right. */
export function concerns({ agent, configuration }: Rules, paths: readonly string[]): boolean {
  const { projects, groups } = namedIn(configuration)
  return paths.some(
    (path) =>
      path === agent.spec.configurationProject || projects.includes(path) || groups.some((group) => path.startsWith(`${group}/`)),
  )
}

/** The keys under which GitLab's agents tell who is behind a request. */
const EXTRA = 'agent.gitlab.com/'

/** `undefined`: none. */
export async function userRight(situation: AccessSituation): Promise<Right | undefined> {
  const access = situation.configuration.userAccess
  const as = access?.accessAs?.as.case
  if (!access || !as) return undefined
  const groups = access.groups.map(({ id }) => id).filter((id) => !isSystem(id) && situation.person.groups.includes(id))
  const own: Project[] = []
  for (const { id } of access.projects) {
    const [project] = named(situation, id)
    if (project && (await situation.develops(situation.person, project))) own.push(project)
    // As the agent it makes no difference which project it is by.
    if (as === 'agent' && own.length > 0) break
  }
  if (groups.length === 0 && own.length === 0) return undefined
  return { by: 'user_access', impersonation: as === 'user' ? asUser(situation, own, groups) : undefined }
}

function asUser(situation: AccessSituation, own: readonly Project[], groups: readonly string[]): Impersonation {
  const { name } = situation.person
  return {
    user: `gitlab:user:${name}`,
    groups: [
      'gitlab:user',
      ...own.flatMap(({ id }) => ROLES.map((role) => `gitlab:project_role:${id}:${role}`)),
      ...groups.flatMap((id) => ROLES.map((role) => `gitlab:group_role:${id}:${role}`)),
    ],
    uid: '',
    extra: { ...about(situation), [`${EXTRA}username`]: [name], [`${EXTRA}access_type`]: ['personal_access_token'] },
  }
}

/** A developer may do everything that a reporter may. */
const ROLES = ['reporter', 'developer']

/**
 * The right of a service account as a job of the projects that it develops. The most specific entry counts, and no other. Of GitLab's rules
 * one is left out: that jobs of the configuration project act as the agent without an entry. It would make whoever writes there an
 * administrator of the cluster, and nobody would read that anywhere.
 */
export async function jobRight(situation: AccessSituation): Promise<Right | undefined> {
  const { configuration, person } = situation
  if (!person.account) return undefined
  const { projects = [], groups = [] } = configuration.ciAccess ?? {}
  const entries = [
    ...projects.map((entry) => ({ entry, rank: Number.POSITIVE_INFINITY, covered: () => named(situation, entry.id) })),
    ...groups.map((entry) => ({ entry, rank: entry.id.length, covered: () => below(situation, entry.id) })),
  ].sort((a, b) => b.rank - a.rank)
  for (const { entry, covered } of entries) {
    // No service account runs in an environment of GitLab's.
    if (entry.environments.length > 0) continue
    const project = await developed(situation, covered())
    if (project) return { by: 'ci_access', impersonation: asJob(situation, project, entry.accessAs) }
  }
  return undefined
}

/** To read a project, or to be in its namespace, is not to run its jobs. */
async function developed({ person, develops }: AccessSituation, projects: readonly Project[]): Promise<Project | undefined> {
  for (const project of projects) if (await develops(person, project)) return project
  return undefined
}

/** One or none. */
const named = ({ agent, projects }: AccessSituation, path: string): Project[] =>
  projects.named(path, refOf(agent).namespace ?? '').slice(0, 1)

/** Each of them is asked for. */
const MOST_OF_GROUP = 20

/** Those in the namespace of the account. Who belongs to others is named with the project. */
const below = (situation: AccessSituation, group: string): Project[] =>
  situation.projects
    .in(situation.person.account?.namespace ?? '')
    .filter((project) => project.path.startsWith(`${group}/`) && named(situation, project.path)[0]?.uid === project.uid)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, MOST_OF_GROUP)

type AccessAs = NonNullable<ConfigurationFile['ciAccess']>['projects'][number]['accessAs']

function asJob(situation: AccessSituation, project: Project, accessAs: AccessAs): Impersonation | undefined {
  const as = accessAs?.as
  if (as?.case === 'ciJob') return jobIdentity(situation, project)
  if (as?.case !== 'impersonate') return undefined
  const { username, groups, uid, extra } = as.value
  if ([username, ...groups].some(isSystem))
    throw new Failure('forbidden', "the agent's configuration impersonates a user or group of the system", {
      reason: 'SystemIdentity',
      remedy: 'Name others in ci_access: those that begin with system: are never passed on',
    })
  return { user: username, groups, uid, extra: Object.fromEntries(extra.map(({ key, val }) => [key, val])) }
}

function jobIdentity(situation: AccessSituation, project: Project): Impersonation {
  const { person } = situation
  const id = numberOf(person.extra[POD_UID]?.[0] ?? person.uid)
  const parts = project.path.split('/')
  const ancestors = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'))
  return {
    user: `gitlab:ci_job:${id}`,
    groups: ['gitlab:ci_job', ...ancestors.map((group) => `gitlab:group:${group}`), `gitlab:project:${project.id}`],
    uid: '',
    extra: {
      ...about(situation),
      [`${EXTRA}project_id`]: [String(project.id)],
      [`${EXTRA}ci_job_id`]: [String(id)],
      [`${EXTRA}username`]: [`${person.account?.namespace}/${person.account?.name}`],
    },
  }
}

/** Tokens of pods say of which: a job is a pod. */
const POD_UID = 'authentication.kubernetes.io/pod-uid'

function about({ agent, projects }: AccessSituation): Record<string, string[]> {
  const project = configurationProjectOf(projects, agent)
  return {
    [`${EXTRA}id`]: [String(numberOf(agent.metadata.uid ?? ''))],
    ...(project && { [`${EXTRA}config_project_id`]: [String(project.id)] }),
  }
}

export const isSystem = (name: string): boolean => name.trim().toLowerCase().startsWith('system:')
