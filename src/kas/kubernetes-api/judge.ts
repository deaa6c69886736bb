import type { Cache } from '../../adapters/kube/index.ts'
import { type Agent, indexBy, isDeleting, refOf } from '../../api/index.ts'
import type { Permissions } from '../../engines/permissions/index.ts'
import type { ConfigurationFile } from '../../rpc/index.ts'
import { type Clock, Failure } from '../../std/index.ts'
import type { AgentConfigurations } from '../ports/ports.ts'
import type { Develops } from '../projects/develop.ts'
import { numberOf } from '../projects/number.ts'
import type { Projects } from '../projects/project.ts'
import type { Ask } from './address.ts'
import type { Looks } from './looks.ts'
import type { Identify, TokenOwner } from './people.ts'
import { jobRight, type Right, userRight } from './rules.ts'
import { type Spaces, spaceRight } from './spaces.ts'

export interface AccessSources {
  agents: Cache<Agent>
  projects: Projects
  configurations: AgentConfigurations
  identify: Identify
  develops: Develops
  /** The same for one visit that is to be let in, at the pace of the visitor. */
  developsAtPace: () => Develops
  /** Tells when somebody may develop other projects than before. */
  permissions: Pick<Permissions, 'onChange'>
  spaces: Spaces
  looks: Looks
  clock: Clock
}

export const byNumber = indexBy((agent: Agent) => [String(numberOf(agent.metadata.uid ?? ''))])

export interface AccessVerdict {
  agent: Agent
  /** The number by which tunnels know it. */
  agentId: bigint
  person: TokenOwner
  right: Right
  /** The right depends on it, unless it comes from a space: no repository has a say in those. */
  configuration: ConfigurationFile | undefined
  /** Namespaces of which it was asked whether the person develops a project there: roles in them may make it another right. */
  askedIn: ReadonlySet<string>
}

/** Finds the right by which the caller may act in the cluster. Throws when there is none. */
export async function judge(sources: AccessSources, ask: Ask): Promise<AccessVerdict> {
  const person = await sources.identify(ask.token)
  const agent = agentOf(sources, ask)
  if (!agent) throw refusal(ask)
  const agentId = numberOf(agent.metadata.uid ?? '')
  const bySpace = spaceRight(sources.spaces, agent, person)
  if (bySpace) return { agent, agentId, person, configuration: undefined, right: bySpace, askedIn: new Set() }
  const configuration = await sources.configurations.of(refOf(agent))
  if (!configuration) throw refusal(ask)
  const askedIn = new Set<string>()
  const develops: Develops = (subject, project, onAsk) => {
    askedIn.add(project.ref.namespace)
    return sources.develops(subject, project, onAsk)
  }
  const situation = { agent, configuration, person, projects: sources.projects, develops }
  const byJob = ask.as === 'pat' ? undefined : await jobRight(situation)
  const right = byJob ?? (ask.as === 'ci' ? undefined : await userRight(situation))
  if (!right) throw refusal(ask)
  return { agent, agentId, person, configuration, right, askedIn }
}

function agentOf({ agents }: AccessSources, { agent }: Ask): Agent | undefined {
  const found = 'id' in agent ? agents.by(byNumber, String(agent.id))[0] : agents.get(agent)
  return found && !isDeleting(found) ? found : undefined
}

/** Absent, unconfigured and closed sound the same, so that nobody learns which agents there are by asking. */
function refusal({ agent }: Ask): Failure {
  const name = 'id' in agent ? `with number ${agent.id}` : `${agent.namespace}/${agent.name}`
  return new Failure('forbidden', `the Agent ${name} does not exist, or you may not reach it`, {
    reason: 'AgentNotAccessible',
    remedy: 'Its configuration says who may, in user_access and ci_access; while that cannot be read, nobody may',
  })
}
