import type { Cache } from '../../adapters/kube/index.ts'
import { type Agent, isDeleting, refOf } from '../../api/index.ts'
import type { ConfigurationFile } from '../../rpc/index.ts'
import { type Clock, Failure } from '../../std/index.ts'
import type { Develops } from '../develop.ts'
import { numberOf } from '../number.ts'
import type { AgentConfigurations } from '../ports.ts'
import type { Projects } from '../project.ts'
import type { Ask } from './address.ts'
import type { Identify } from './people.ts'
import { jobRight, type Right, userRight } from './rules.ts'
import { type Spaces, spaceRight } from './spaces.ts'

export interface Doors {
  /** Must have the index `BY_NUMBER`. */
  agents: Cache<Agent>
  projects: Projects
  configurations: AgentConfigurations
  identify: Identify
  develops: Develops
  spaces: Spaces
  clock: Clock
}

export const BY_NUMBER = { number: (agent: Agent): string[] => [String(numberOf(agent.metadata.uid ?? ''))] }

export interface Verdict {
  agent: Agent
  right: Right
  /** What the right depends on, unless it is by a space: those are there whatever is written in a repository. */
  configuration: ConfigurationFile | undefined
}

/** Who it is that asks, and as whom he may act. Throws where he may not. */
export async function judge(doors: Doors, ask: Ask): Promise<Verdict> {
  const person = await doors.identify(ask.token)
  const agent = agentOf(doors, ask)
  if (!agent) throw refusal(ask)
  const bySpace = spaceRight(doors.spaces, agent, person)
  if (bySpace) return { agent, configuration: undefined, right: bySpace }
  const configuration = await doors.configurations.of(refOf(agent))
  if (!configuration) throw refusal(ask)
  const situation = { agent, configuration, person, projects: doors.projects, develops: doors.develops }
  const byJob = ask.as === 'pat' ? undefined : await jobRight(situation)
  const right = byJob ?? (ask.as === 'ci' ? undefined : await userRight(situation))
  if (!right) throw refusal(ask)
  return { agent, configuration, right }
}

function agentOf({ agents }: Doors, { agent }: Ask): Agent | undefined {
  const found = 'id' in agent ? agents.by('number', String(agent.id))[0] : agents.get(agent)
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
