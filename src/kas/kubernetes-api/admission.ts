import type { Cache } from '../../adapters/kube/index.ts'
import { type Agent, isDeleting, keyOf, type Ref, refOf } from '../../api/index.ts'
import type { ConfigurationFile } from '../../rpc/index.ts'
import { type Clock, Failure, isFailure, minutes } from '../../std/index.ts'
import { numberOf } from '../number.ts'
import type { AgentConfigurations } from '../ports.ts'
import type { Projects } from '../project.ts'
import type { Ask } from './address.ts'
import type { Develops } from './develop.ts'
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

/** The right to act in the cluster of one agent, while it lasts. */
export interface Admission {
  readonly agentId: bigint
  readonly right: Right
  /** Aborts when the right has gone, or is another; its reason is a `Failure`. */
  readonly ended: AbortSignal
  close(): void
}

/** What no watch tells: a token that has ended, a role binding that was taken away. */
const AGAIN = minutes(1)

/** Says who may pass, and looks again whenever something changes on which that depends. */
export async function admit(doors: Doors, ask: Ask): Promise<Admission> {
  const { agent, configuration, right } = await judge(doors, ask)
  const end = new AbortController()
  const watching = new AbortController()
  let isLooking = false
  let isStale = false
  const again = async (): Promise<void> => {
    isStale = true
    if (isLooking) return
    isLooking = true
    while (isStale && !watching.signal.aborted) {
      isStale = false
      if (!(await holds(doors, ask, right))) end.abort(revoked())
    }
    isLooking = false
  }
  const stops = [...watch(doors, refOf(agent), again), eachMinute(doors.clock, again)]
  // Something may have changed while somebody was asked.
  if (agentOf(doors, ask) !== agent || doors.configurations.of(refOf(agent)) !== configuration) void again()
  return {
    agentId: numberOf(agent.metadata.uid ?? ''),
    right,
    ended: end.signal,
    close() {
      watching.abort()
      for (const stop of stops) stop()
    },
  }
}

function watch({ agents, configurations, projects, spaces }: Doors, agent: Ref, again: () => Promise<void>): (() => void)[] {
  const isIts = (ref: Ref) => keyOf(ref) === keyOf(agent)
  return [
    agents.onChange((now, before) => {
      const changed = now ?? before
      // Its status says every few minutes that it is connected.
      const isSame = now && !isDeleting(now) && now.metadata.generation === before?.metadata.generation
      if (changed && isIts(refOf(changed)) && !isSame) void again()
    }),
    configurations.onChange((ref) => {
      if (isIts(ref)) void again()
    }),
    projects.onChange(() => void again()),
    spaces.requests.onChange(() => void again()),
  ]
}

function eachMinute(clock: Clock, again: () => Promise<void>): () => void {
  let stop = clock.after(AGAIN, turn)
  function turn() {
    void again()
    stop = clock.after(AGAIN, turn)
  }
  return () => stop()
}

/** An API server that is away takes nobody's right. */
async function holds(doors: Doors, ask: Ask, right: Right): Promise<boolean> {
  try {
    const now = await judge(doors, ask)
    return JSON.stringify(now.right) === JSON.stringify(right)
  } catch (thrown) {
    return !isFailure(thrown, 'unauthorized', 'not-found', 'forbidden')
  }
}

async function judge(
  doors: Doors,
  ask: Ask,
): Promise<{ agent: Agent; configuration: ConfigurationFile | undefined; right: Right }> {
  const person = await doors.identify(ask.token)
  const agent = agentOf(doors, ask)
  const bySpace = agent && spaceRight(doors.spaces, agent, person)
  const configuration = agent && doors.configurations.of(refOf(agent))
  // Spaces are there whatever is written in the repository.
  if (bySpace) return { agent, configuration, right: bySpace }
  if (!agent || !configuration) throw refusal(ask)
  const situation = { agent, configuration, person, projects: doors.projects, develops: doors.develops }
  const byJob = ask.as === 'pat' ? undefined : jobRight(situation)
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
  return new Failure('not-found', `there is no Agent ${name} that you may reach`, {
    reason: 'AgentNotAccessible',
    remedy: 'Its configuration says who may, in user_access and ci_access',
  })
}

const revoked = () =>
  new Failure('unauthorized', 'the right to reach this agent has ended or changed', { reason: 'AccessRevoked' })
