import type { V1Container, V1LifecycleHandler } from '@kubernetes/client-node'
import { type ConfigMap, ConfigMaps } from '../../../api/index.ts'
import type { Container } from '../../../devfile/index.ts'
import { type EventCommand, type EventStep, longest, stepsOf } from '../../../engines/devfiles/index.ts'
import { editorContainerOf, editorSteps } from './editor.ts'
import { envelope } from './envelope.ts'
import { LOGS } from './environment.ts'
import { isMadeAnewForRunner } from './form.ts'
import { editorPortOf } from './hosts.ts'
import { digest, objectNameOf } from './names.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { RUNNER, TURNS_RUNNER, TURNS_WAITER } from './runner.ts'
import { longestOf, marksOf, SCRIPTS, TURNS, turnsOf, WAITER } from './turns.ts'

const EVENTS = ['postStart', 'preStop'] as const
const VOLUME = 'workspace-scripts'
const TURNS_TAKER = 'take-turns'
const READABLE = 0o555

const namesOf = (event: string, container: Container) => `${event}.${container.name}`

/** The commands of all events of the containers that run, as files; nothing when there are none. */
export function scriptsOf(plan: WorkspacePlan, containers: readonly Container[]): ConfigMap | undefined {
  const files = EVENTS.flatMap((event) =>
    containers.flatMap((container) => filesOf(namesOf(event, container), markedStepsAt(plan, event, container))),
  )
  if (files.length === 0) return undefined
  const ofTurns = turnsOf(plan) ? { [TURNS_TAKER]: TURNS_RUNNER, [WAITER]: TURNS_WAITER } : {}
  return {
    ...envelope(plan, ConfigMaps, scriptsNameOf(plan)),
    data: { run: RUNNER, ...ofTurns, ...Object.fromEntries(files) },
  }
}

const scriptsNameOf = ({ workspace }: WorkspacePlan): string => `${objectNameOf(workspace)}-scripts`

/** Tells one set of scripts from another: other scripts are another pod. */
export function scriptsDigest(plan: WorkspacePlan, { data = {} }: ConfigMap): string {
  const { run: _, [TURNS_TAKER]: __, [WAITER]: ___, ...commands } = data
  return digest(JSON.stringify(isMadeAnewForRunner(plan) ? data : commands))
}

/** The editor begins first, and beside everything else. */
function stepsAt({ settings, devfile, git }: WorkspacePlan, event: (typeof EVENTS)[number], container: Container): EventStep[] {
  const own = stepsOf(devfile, event, container, git?.folder)
  const isEditor = editorPortOf(settings) !== undefined && editorContainerOf(devfile)?.name === container.name
  return event === 'postStart' && isEditor ? [...editorSteps(settings), ...own] : own
}

interface MarkedStep {
  step: EventStep
  /** What the runner is told of whose turn it is, if anything. */
  marks: string
}

/** The editor waits for nobody's turn. */
function markedStepsAt(plan: WorkspacePlan, event: (typeof EVENTS)[number], container: Container): MarkedStep[] {
  const steps = stepsAt(plan, event, container)
  const turns = event === 'postStart' ? turnsOf(plan) : undefined
  const marks = turns ? marksOf(turns, container.name) : []
  const first = steps.length - marks.length
  return steps.map((step, i) => ({ step, marks: marks[i - first] ?? '' }))
}

type File = [name: string, text: string]

function filesOf(list: string, steps: readonly MarkedStep[]): File[] {
  const runs = steps.flatMap(({ step, marks }) => step.map((run, i) => ({ run, marks, isLast: i === step.length - 1 })))
  if (runs.length === 0) return []
  const named = runs.map((each, i) => ({ ...each, name: `${list}.${i + 1}.${each.run.id}` }))
  const lines = named.map(({ run, marks, isLast, name }) => {
    const words = [name, run.waits ? 'wait' : 'go', run.limit, isLast ? 'end' : 'and', marks]
    return `${words.filter((word) => word !== '').join(' ')}\n`
  })
  return [[list, lines.join('')], ...named.flatMap(({ run, name }) => filesOfRun(name, run))]
}

const filesOfRun = (name: string, { commandLine, dir, env }: EventCommand): File[] => [
  [`${name}.sh`, commandLine],
  [`${name}.dir`, dir],
  ...env.map((each, i): File => [`${name}.env.${i + 1}`, `${each.name}=${each.value}`]),
]

/** Has a container run its share of each event. */
export function lifecycleOf(plan: WorkspacePlan, container: Container): Pick<V1Container, 'lifecycle'> {
  const handlers = EVENTS.flatMap((event): [string, V1LifecycleHandler][] => {
    if (stepsAt(plan, event, container).length === 0) return []
    const words = [SCRIPTS, LOGS, namesOf(event, container)]
    const takesTurns = event === 'postStart' && turnsOf(plan)?.containers.includes(container.name)
    const command = takesTurns ? ['sh', `${SCRIPTS}/${TURNS_TAKER}`, ...words, TURNS] : ['sh', `${SCRIPTS}/run`, ...words]
    return [[event, { exec: { command } }]]
  })
  return handlers.length > 0 ? { lifecycle: Object.fromEntries(handlers) } : {}
}

/** The scripts, for every container; nothing when there are no scripts. */
export function scriptsAddition(plan: WorkspacePlan, scripts: ConfigMap | undefined): Addition {
  if (!scripts) return {}
  return {
    volumes: [{ name: VOLUME, configMap: { name: scriptsNameOf(plan), defaultMode: READABLE } }],
    mounts: [{ name: VOLUME, mountPath: SCRIPTS, readOnly: true }],
  }
}

/** Seconds that these containers may take for an event: as long as the slowest of them, or one after the other by turns. */
export function timeFor(plan: WorkspacePlan, event: (typeof EVENTS)[number], containers: readonly Container[]): number {
  const turns = event === 'postStart' ? turnsOf(plan) : undefined
  const isMain = turns && containers.some(({ name }) => turns.containers.includes(name))
  const inTurn = isMain ? longestOf(plan, turns) : 0
  return Math.max(inTurn, ...containers.map((container) => longest(stepsAt(plan, event, container))))
}
