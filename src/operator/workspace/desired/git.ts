import { type ConfigMap, ConfigMaps, type CoreSecret, Secrets } from '../../../api/index.ts'
import type { Container, Devfile } from '../../../devfile/index.ts'
import type { Piece } from '../../../engines/apply/index.ts'
import { gitAddition, gitFiles, gitNameOf } from '../git/index.ts'
import { envelope } from './envelope.ts'
import { awaitsClone, hasNamedUser } from './form.ts'
import { objectNameOf } from './names.ts'
import { usersIn } from './overrides.ts'
import { ownResourcesOf } from './own-resources.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { POD_SECURITY, securityOf } from './rights.ts'
import { DATA } from './volumes.ts'

/** The cloner has the folder of projects here. */
const PROJECTS = '/projects'
/** On the copy of the owner's Secret: which version of it that is. */
const COPIED_VERSION = 'berth.dev/copied-version'

/** The files of Git, and the copy of what the owner's Secret has for the target. */
export function gitPiecesOf(plan: WorkspacePlan): Piece[] {
  const { git, devfile, workspace } = plan
  if (!git) return []
  const name = gitNameOf(objectNameOf(workspace))
  const projects = [...new Set([PROJECTS, ...devfile.containers.map(({ sourceMapping }) => sourceMapping)])]
  const files: ConfigMap = { ...envelope(plan, ConfigMaps, name), data: gitFiles(git, { projects, users: usersOf(devfile) }) }
  if (!git.copied) return [{ kind: ConfigMaps, object: files }]
  const { metadata, ...rest } = envelope(plan, Secrets, name)
  const annotations = { ...metadata.annotations, [COPIED_VERSION]: git.copied.version }
  const copy: CoreSecret = { ...rest, metadata: { ...metadata, annotations }, type: 'Opaque', data: git.copied.data }
  return [
    { kind: ConfigMaps, object: files },
    { kind: Secrets, object: copy },
  ]
}

/** Numbers that a pod of the devfile may run as. */
const usersOf = (devfile: Devfile): number[] => [...new Set([POD_SECURITY.runAsUser, ...usersIn(devfile)])]

/**
 * Adds Git to a pod; nothing without a project. The main pod clones it; whatever else has the folder of the projects waits for that,
 * or begins when it was long done.
 */
export function gitAdditionOf(
  plan: WorkspacePlan,
  pod: 'main' | 'beside' | 'after',
  containers?: readonly Container[],
): Addition {
  const { git, settings, workspace } = plan
  if (!git) return {}
  const { cloner, waiter, ...rest } = gitAddition(git, {
    settings,
    objectName: objectNameOf(workspace),
    body: { securityContext: securityOf(settings), resources: ownResourcesOf(plan, undefined, containers) },
    data: { name: DATA, mountPath: PROJECTS, subPath: 'projects' },
    hasNames: git.url.protocol === 'ssh:' && hasNamedUser(plan),
  })
  const first = { main: [cloner], beside: awaitsClone(plan) ? [waiter] : [], after: [] }
  return { ...rest, initContainers: first[pod] }
}
