import type { WorkspaceClassSpec } from '../../api/index.ts'
import type { Devfile } from '../../devfile/index.ts'
import { crossedAmounts, overMaxima } from './amounts.ts'
import { appliedCommands, runningContainers } from './event-steps.ts'
import { readManifests } from './manifests.ts'
import { overrideRefusals } from './override-rules.ts'
import { componentAt, type DevfileRefusal } from './refusal.ts'

/**
 * Parts that would change the workspace and have no effect yet are refused: better than missing without a word. So is what the class
 * does not allow. The devfile is one that `withResources` has seen.
 */
export function refusalsOf(devfile: Devfile, settings: WorkspaceClassSpec): DevfileRefusal[] {
  const overrides = overrideRefusals(devfile)
  return [
    ...tooMany(devfile),
    ...notApplied(devfile),
    ...readManifests(devfile).refusals,
    ...overrides,
    ...reserved(devfile),
    ...nothingRuns(devfile),
    // An amount that is none cannot be compared.
    ...(overrides.length > 0 ? [] : devfile.containers.flatMap((each) => crossedAmounts(each, settings))),
    ...(overrides.length > 0 ? [] : overMaxima(devfile, settings)),
  ]
}

/** What a workspace is made of is looked at for each of its containers again: of seven hundred it took half a minute. No node runs as many pods. */
const MOST_CONTAINERS = 100

const tooMany = ({ containers }: Devfile): DevfileRefusal[] =>
  containers.length > MOST_CONTAINERS
    ? [
        {
          at: ['components'],
          message: `${containers.length} containers are more than ${MOST_CONTAINERS}`,
          remedy: 'leave some out',
        },
      ]
    : []

/** Events apply containers. Kubernetes objects are there from the start, or not at all. */
const notApplied = (devfile: Devfile): DevfileRefusal[] =>
  (['preStart', 'postStop'] as const).flatMap((event) =>
    appliedCommands(devfile, event)
      .filter(({ component }) => !devfile.containers.some(({ name }) => name === component))
      .map(({ id, component }) => ({
        at: ['commands', id, 'apply', 'component'],
        message: `command "${id}" of events.${event} applies "${component}", which is not a container`,
        remedy: 'leave it out',
      })),
  )

/** Names that begin so are those of containers that Berth puts beside the devfile's. */
const reserved = ({ containers }: Devfile): DevfileRefusal[] =>
  containers
    .filter(({ name }) => name.startsWith('berth-'))
    .map(({ name }) => ({
      at: componentAt(name, 'name'),
      message: `the name of component "${name}" is reserved, because it begins with berth-`,
      remedy: 'choose another one',
    }))

const nothingRuns = (devfile: Devfile): DevfileRefusal[] =>
  runningContainers(devfile).every(({ dedicatedPod }) => dedicatedPod)
    ? [
        {
          at: ['components'],
          message: 'no container is left for the main pod: all are only applied at events, or have a pod of their own',
          remedy: 'add one that is neither',
        },
      ]
    : []

const WITHOUT_EFFECT = ['projects', 'starterProjects', 'dependentProjects'] as const

/** Parts that have no effect, and do no harm. The remark is not to be told as a mistake. */
export function remarksOn(devfile: Devfile): DevfileRefusal[] {
  const notBuilt = devfile.images.map(({ name, imageName }) => ({
    at: componentAt(name),
    message: `nothing is built here: containers get the ${imageName} that its registry has, so build and push it before`,
    remedy: '',
  }))
  const idle = WITHOUT_EFFECT.filter((part) => devfile[part].length > 0)
  return [...notBuilt, ...idle.map((part) => ({ at: [part], message: 'is read, but has no effect', remedy: '' }))]
}
