import { type Deployment, labels, type Pod, type Workspace } from '../../../api/index.ts'
import type { Container, Devfile } from '../../../devfile/index.ts'
import { runningContainers } from '../../../engines/devfiles/index.ts'
import { withoutEnd } from '../../../std/index.ts'
import { digest, objectNameOf } from './names.ts'

/** The pod that is the workspace, beside those that its devfile wants apart. */
export const MAIN = 'main'

/** A pod of a workspace: what it is called, and what runs in it. */
export interface WorkspacePart {
  part: string
  /** Of its Deployment and its Service. */
  name: string
  containers: Container[]
}

/** The main pod first. Names of the others are marks, so that they are never those of another workspace. */
export function partsOf(workspace: Workspace, devfile: Devfile): [WorkspacePart, ...WorkspacePart[]] {
  const running = runningContainers(devfile)
  const name = objectNameOf(workspace)
  const apart = running.filter(({ dedicatedPod }) => dedicatedPod)
  const main = { part: MAIN, name, containers: running.filter(({ dedicatedPod }) => !dedicatedPod) }
  const others = apart.map((container) => {
    const part = `pod-${digest(container.name).slice(0, 8)}`
    return { part, name: besideName(workspace, part), containers: [container] }
  })
  return [main, ...others]
}

/** The longest name of a container, a Service and a label, and so of a Job whose pods can be found by it. */
const LONGEST_NAME = 63

/** A name beside that of the workspace's main object. Marks are such that it is never that of another workspace. */
export const besideName = (workspace: Workspace, mark: string): string =>
  `${withoutEnd(objectNameOf(workspace).slice(0, LONGEST_NAME - mark.length - 1), '-')}-${mark}`

/** A name as it is, or cut and with a mark of the whole, so that two long names stay two. */
export const fitted = (name: string): string =>
  name.length <= LONGEST_NAME ? name : `${withoutEnd(name.slice(0, LONGEST_NAME - 9), '-.')}-${digest(name).slice(0, 8)}`

export const selectorOf = ({ metadata }: Workspace, part: string): Record<string, string> => ({
  [labels.workspaceUid]: metadata.uid ?? '',
  [labels.workspacePart]: part,
})

/** Tells the pods of a workspace apart. */
export const partOf = ({ metadata }: Pod): string => metadata.labels?.[labels.workspacePart] ?? MAIN

/** The same for the Deployment of a pod. */
export const partOfDeployment = ({ spec }: Deployment): string => spec?.selector?.matchLabels?.[labels.workspacePart] ?? MAIN
