import {
  notTrue,
  type Statement,
  type Workspace,
  type WorkspaceClassSpec,
  type WorkspaceSpec,
  type WorkspaceStatus,
} from '../../../api/index.ts'
import type { Devfile, Resources } from '../../../devfile/index.ts'
import { crossedAmounts, overMaxima, resourcesOf, sayRefusal } from '../../../engines/devfiles/index.ts'
import { defined } from '../../../std/index.ts'

type Wish = NonNullable<WorkspaceSpec['resources']>
type Size = Wish[number]

/** The resources of a workspace's containers, and what of the wishes for them has to wait. */
export interface Sizes {
  /** The devfile as it is made: with the sizes that count now. */
  devfile: Devfile
  /** The wishes in it. */
  applied: Wish
  /** Why the wishes are not in it, and cannot be. */
  trouble: string | undefined
  /** Other wishes wait for the next start. */
  isLate: boolean
}

/** A running pod keeps its size: only one that is made anyway takes the wishes over. Wishes that cannot be change nothing. */
export function sizesOf(workspace: Workspace, devfile: Devfile, settings: WorkspaceClassSpec): Sizes {
  const wish = workspace.spec.resources ?? []
  const before = workspace.status?.resources?.applied
  const trouble = whyNot(wish, devfile, settings)
  const possible = trouble === undefined ? wish : usable(before, devfile, settings)
  const applied = before !== undefined && runs(workspace) ? before : possible
  return {
    devfile: sized(devfile, applied),
    applied,
    trouble,
    isLate: trouble === undefined && JSON.stringify(applied) !== JSON.stringify(wish),
  }
}

const usable = (before: Wish | undefined, devfile: Devfile, settings: WorkspaceClassSpec): Wish =>
  before && whyNot(before, devfile, settings) === undefined ? before : []

/** True while there is a pod that another size would end. */
function runs({ spec, status }: Workspace): boolean {
  const isWanted = (spec.desiredState ?? 'Running') === 'Running' && (spec.restartedAt ?? '') === (status?.restartedAt ?? '')
  return isWanted && !['CreationRequested', 'Stopped', undefined].includes(status?.actualState)
}

function whyNot(wish: Wish, devfile: Devfile, settings: WorkspaceClassSpec): string | undefined {
  if (wish.length === 0) return undefined
  const known = devfile.containers.map(({ name }) => name)
  const stranger = wish.find(({ container }) => !known.includes(container))
  if (stranger) return `the devfile has no container ${stranger.container}; there is ${known.join(', ')}`
  const { containers } = sized(devfile, wish)
  // The wish and the devfile may each be right, and their sum not.
  const crossed = containers.flatMap((each) => crossedAmounts(each, settings))
  const [first] = [...crossed, ...overMaxima({ ...devfile, containers }, settings)]
  return first && sayRefusal(first)
}

const sized = (devfile: Devfile, wish: Wish): Devfile => ({
  ...devfile,
  containers: devfile.containers.map((container) => {
    const size = wish.find((each) => each.container === container.name)
    return size ? { ...container, resources: { ...container.resources, ...fieldsOf(size) } } : container
  }),
})

const fieldsOf = ({ requests = {}, limits = {} }: Size): Resources =>
  defined({
    cpuRequest: requests.cpu?.toString(),
    cpuLimit: limits.cpu?.toString(),
    memoryRequest: requests.memory?.toString(),
    memoryLimit: limits.memory?.toString(),
  })

/** As the status says it. What is stopped has no size. */
export function sizesInStatus(
  { devfile, applied }: Sizes,
  settings: WorkspaceClassSpec,
  hasPods: boolean,
): WorkspaceStatus['resources'] {
  if (!hasPods) return { applied }
  const running = devfile.containers.map((container) => {
    const { requests = {}, limits = {} } = resourcesOf(container, settings)
    return { container: container.name, requests: cpuAndMemory(requests), limits: cpuAndMemory(limits) }
  })
  return { applied, running }
}

const cpuAndMemory = ({ cpu, memory }: Record<string, string>) => defined({ cpu, memory })

/** Said as long as it has other resources than are wished. */
export function onSizes({ metadata }: Workspace, { applied, trouble, isLate }: Sizes): Statement[] {
  const no = (reason: string, message: string) => [notTrue('ResourcesCurrent', reason, message)]
  if (trouble !== undefined) return no('ResourcesRefused', `spec.resources: ${trouble}. Correct it; nothing of it is taken over.`)
  if (!isLate) return []
  const command = `berth restart ${metadata.name} -n ${metadata.namespace}`
  const now = applied.length > 0 ? applied.map(wordsOf).join('; ') : 'what the devfile and the class say'
  return no('RestartNeeded', `spec.resources takes effect at the next start: ${command}. Until then it runs with ${now}.`)
}

const wordsOf = ({ container, requests, limits }: Size): string =>
  `${container}: ${[...sideOf('requests', requests), ...sideOf('limits', limits)].join(', ')}`

function sideOf(name: string, side: Size['requests']): string[] {
  const amounts = Object.entries(side ?? {}).map(([what, amount]) => `${what} ${amount}`)
  return side ? [`${name} ${amounts.join(' and ')}`] : []
}
