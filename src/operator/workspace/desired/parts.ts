import { type Deployment, labels, type Pod, type Workspace } from '../../../api/index.ts'
import type { Container, Devfile } from '../../../devfile/index.ts'
import { withoutEnd } from '../../../std/index.ts'
import { isOnlyApplied } from './event-steps.ts'
import { digest, objectNameOf } from './names.ts'

/** The pod that is the workspace, beside those that its devfile wants apart. */
export const MAIN = 'main'

/** A pod of a workspace: what it is called, and what runs in it. */
export interface Part {
  part: string
  /** Of its Deployment and its Service. */
  name: string
  containers: Container[]
}

/** The main pod first. Names of the others are marks, so that they are never those of another workspace. */
export function partsOf(workspace: Workspace, devfile: Devfile): [Part, ...Part[]] {
  const running = devfile.containers.filter((container) => !isOnlyApplied(devfile, container))
  const name = objectNameOf(workspace)
  const apart = running.filter(({ dedicatedPod }) => dedicatedPod)
  const main = { part: MAIN, name, containers: running.filter(({ dedicatedPod }) => !dedicatedPod) }
  const others = apart.map((container) => {
    const part = `pod-${digest(container.name).slice(0, 8)}`
    return { part, name: besideName(workspace, part), containers: [container] }
  })
  return [main, ...others]
}

/** The longest name of a Service, and of a Job whose pods can be found by it. */
const LONGEST = 63

/** A name beside that of the workspace's main object. Marks are such that it is never that of another workspace. */
export const besideName = (workspace: Workspace, mark: string): string =>
  `${withoutEnd(objectNameOf(workspace).slice(0, LONGEST - mark.length - 1), '-')}-${mark}`

export const selectorOf = ({ metadata }: Workspace, part: string): Record<string, string> => ({
  [labels.workspaceUid]: metadata.uid ?? '',
  [labels.workspacePart]: part,
})

/** Which pod of its workspace it is. */
export const partOf = ({ metadata }: Pod): string => metadata.labels?.[labels.workspacePart] ?? MAIN

/** Which pod of its workspace it is for. */
export const partOfDeployment = ({ spec }: Deployment): string => spec?.selector?.matchLabels?.[labels.workspacePart] ?? MAIN
