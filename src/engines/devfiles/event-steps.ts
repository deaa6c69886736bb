import type { Command, Container, Devfile, DevfileEvents, EnvVar } from '../../devfile/index.ts'

/** One command of an event, as a container runs it. */
export interface EventCommand {
  id: string
  commandLine: string
  dir: string
  env: EnvVar[]
  /** The event waits for its end. */
  waits: boolean
  /** Seconds after which it is ended; 0 means never. */
  limit: number
}

/** Runs that begin together; the next step begins when those that are waited for are done. */
export type EventStep = EventCommand[]

type Exec = Extract<Command, { kind: 'exec' }>
type RunEvent = 'postStart' | 'preStop'

const IN_BACKGROUND = 'berth.dev/background'
const TIME_LIMIT = 'berth.dev/timeout-seconds'
const USUAL_LIMIT = { postStart: 300, preStop: 30, postStop: 300 }
const LONGEST_LIMIT = 3600

/** At an event a container runs its share of the commands that are bound to it, in their order. */
export function stepsOf(devfile: Devfile, event: RunEvent, container: Container, project?: string): EventStep[] {
  const own = ({ component }: Exec) => component === container.name
  return execSteps(devfile, event)
    .map((commands) => commands.filter(own).map((command) => runOf(command, event, container, project)))
    .filter((step) => step.length > 0)
}

/** Names of those among the containers that have a part in each step of an event, as far as any has. */
export function takersOf(devfile: Devfile, event: RunEvent, containers: readonly Container[]): string[][] {
  const places = new Map(containers.map(({ name }, place) => [name, place]))
  return execSteps(devfile, event)
    .map((commands) => [...new Set(commands.flatMap(({ component }) => places.get(component) ?? []))].sort((a, b) => a - b))
    .filter((takers) => takers.length > 0)
    .map((takers) => takers.flatMap((place) => containers[place]?.name ?? []))
}

/** Ids are looked up without regard to case, as the specification has it. A devfile may name one command a thousand times. */
function commandsIn({ commands }: Devfile): (id: string) => Command | undefined {
  const byId = new Map(commands.map((command) => [command.id.toLowerCase(), command]))
  return (id) => byId.get(id.toLowerCase())
}

/** A sequence is several steps; what is parallel is one. */
function execSteps(devfile: Devfile, event: RunEvent): Exec[][] {
  const commandOf = commandsIn(devfile)
  return devfile.events[event].flatMap((id) => {
    const command = commandOf(id)
    if (command?.kind === 'exec') return [[command]]
    if (command?.kind !== 'composite') return []
    const members = command.commands.map(commandOf).filter((member) => member?.kind === 'exec')
    return command.parallel ? [members] : members.map((member) => [member])
  })
}

function runOf(command: Exec, event: RunEvent, container: Container, project: string | undefined): EventCommand {
  const { id, commandLine, env } = command
  const waits = !isInBackground(command, event, container)
  const asked = numberIn(command.attributes[TIME_LIMIT])
  const limit = Math.min(asked ?? (waits ? USUAL_LIMIT[event] : 0), LONGEST_LIMIT)
  return { id, commandLine, env, waits, limit, dir: dirOf(command, container, project) }
}

/** The editor's container comes from GitLab's world, where the start waits for nobody's commands. */
function isInBackground({ attributes }: Exec, event: RunEvent, container: Container): boolean {
  const asked = attributes[IN_BACKGROUND]
  if (asked !== undefined) return asked === true || asked === 'true'
  return event === 'postStart' && container.attributes['gl/inject-editor'] === true
}

function numberIn(value: unknown): number | undefined {
  const number = Number(value ?? Number.NaN)
  return Number.isInteger(number) && number > 0 ? number : undefined
}

/** Empty: where the container begins. The variables are those that the specification allows here. */
function dirOf({ workingDir }: Exec, { mountSources, sourceMapping }: Container, project: string | undefined): string {
  const source = project === undefined ? sourceMapping : `${sourceMapping}/${project}`
  const places: Record<string, string> = { PROJECTS_ROOT: sourceMapping, PROJECT_SOURCE: source }
  const filled = workingDir?.replace(/\$\{?(PROJECTS_ROOT|PROJECT_SOURCE)\}?(?![A-Z_])/g, (_, name) => places[name] ?? '')
  return filled ?? (mountSources ? source : '')
}

/** Seconds that an event takes at most in one container, as far as it is waited for. */
export const longest = (steps: readonly EventStep[]): number =>
  steps.reduce((sum, step) => sum + Math.max(0, ...step.map(({ waits, limit }) => (waits ? limit : 0))), 0)

type ApplyEvent = Exclude<keyof DevfileEvents, RunEvent>
type Apply = Extract<Command, { kind: 'apply' }>

/** The containers that an event applies, in their order. */
export function appliedAt(devfile: Devfile, event: ApplyEvent): Container[] {
  const byName = new Map(devfile.containers.map((container) => [container.name, container]))
  return appliedCommands(devfile, event).flatMap(({ component }) => byName.get(component) ?? [])
}

export function appliedCommands(devfile: Devfile, event: ApplyEvent): Apply[] {
  const commandOf = commandsIn(devfile)
  const ids = devfile.events[event].flatMap((id) => {
    const command = commandOf(id)
    return command?.kind === 'composite' ? command.commands : [id]
  })
  return ids.map(commandOf).filter((command) => command?.kind === 'apply')
}

/** Seconds that the containers which an event applies may take together. */
export function timeToApply(devfile: Devfile, event: 'postStop'): number {
  const limits = appliedCommands(devfile, event).map(({ attributes }) => numberIn(attributes[TIME_LIMIT]) ?? USUAL_LIMIT.postStop)
  return limits.reduce((sum, limit) => sum + Math.min(limit, LONGEST_LIMIT), 0)
}

/** A container that is only there for events which apply it does not run beside the others. */
export function runningContainers(devfile: Devfile): Container[] {
  const applied = new Set([...appliedAt(devfile, 'preStart'), ...appliedAt(devfile, 'postStop')].map(({ name }) => name))
  const executing = new Set(devfile.commands.flatMap((command) => (command.kind === 'exec' ? [command.component] : [])))
  return devfile.containers.filter(({ name }) => !applied.has(name) || executing.has(name))
}
