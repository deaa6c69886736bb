import type { V1Container, V1LifecycleHandler } from '@kubernetes/client-node'
import { type ConfigMap, ConfigMaps } from '../../../api/index.ts'
import type { Container } from '../../../devfile/index.ts'
import { editorContainerOf, editorSteps } from './editor.ts'
import { envelope } from './envelope.ts'
import { LOGS } from './environment.ts'
import { type EventCommand, type EventStep, longest, stepsOf } from './event-steps.ts'
import { isMadeAnewForRunner } from './form.ts'
import { editorPortOf } from './hosts.ts'
import { digest, objectNameOf } from './names.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { RUNNER } from './runner.ts'

const EVENTS = ['postStart', 'preStop'] as const
const VOLUME = 'workspace-scripts'
const SCRIPTS = '/.workspace-data/scripts'
const READABLE = 0o555

const namesOf = (event: string, container: Container) => `${event}.${container.name}`

/** The commands of all events of the containers that run, as files; nothing when there are none. */
export function scriptsOf(plan: WorkspacePlan, containers: readonly Container[]): ConfigMap | undefined {
  const files = EVENTS.flatMap((event) =>
    containers.flatMap((container) => filesOf(namesOf(event, container), stepsAt(plan, event, container))),
  )
  if (files.length === 0) return undefined
  return {
    ...envelope(plan, ConfigMaps, scriptsNameOf(plan)),
    data: Object.fromEntries([['run', RUNNER], ...files]),
  }
}

const scriptsNameOf = ({ workspace }: WorkspacePlan): string => `${objectNameOf(workspace)}-scripts`

/** Tells one set of scripts from another: other scripts are another pod. */
export function scriptsDigest(plan: WorkspacePlan, { data = {} }: ConfigMap): string {
  const { run: _, ...commands } = data
  return digest(JSON.stringify(isMadeAnewForRunner(plan) ? data : commands))
}

/** The editor begins first, and beside everything else. */
function stepsAt({ settings, devfile, git }: WorkspacePlan, event: (typeof EVENTS)[number], container: Container): EventStep[] {
  const own = stepsOf(devfile, event, container, git?.folder)
  const isEditor = editorPortOf(settings) !== undefined && editorContainerOf(devfile)?.name === container.name
  return event === 'postStart' && isEditor ? [...editorSteps(settings), ...own] : own
}

type File = [name: string, text: string]

function filesOf(list: string, steps: readonly EventStep[]): File[] {
  const runs = steps.flatMap((step) => step.map((run, i) => ({ run, isLast: i === step.length - 1 })))
  if (runs.length === 0) return []
  const named = runs.map(({ run, isLast }, i) => ({ run, isLast, name: `${list}.${i + 1}.${run.id}` }))
  const lines = named.map(
    ({ run, isLast, name }) => `${name} ${run.waits ? 'wait' : 'go'} ${run.limit} ${isLast ? 'end' : 'and'}\n`,
  )
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
    const command = ['sh', `${SCRIPTS}/run`, SCRIPTS, LOGS, namesOf(event, container)]
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

/** Seconds that the slowest container may take for an event. */
export const timeFor = (plan: WorkspacePlan, event: (typeof EVENTS)[number], containers: readonly Container[]): number =>
  Math.max(0, ...containers.map((container) => longest(stepsAt(plan, event, container))))
