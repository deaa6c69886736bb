import { byAge, conditionOf, type GitProject, type GitProjectStatus, isDeleting, type Statement } from '../../api/index.ts'
import { type PathHolders, PROJECT_PATHS } from '../projects/path-holders.ts'

/** True while callers who ask for the project's path get this project. */
const PATH_UNIQUE = 'PathUnique'

/**
 * The path is the id that agents use: of its namespace's projects the oldest has it, and of other namespaces' only those that hold
 * it. Whichever has it not is told; what stands in another namespace is not named, since it may be private. `undefined` while there
 * never was anything to tell.
 */
export function pathStatement(
  object: GitProject,
  ofPath: readonly GitProject[],
  { holds }: Pick<PathHolders, 'holds'>,
): Statement | undefined {
  const { namespace = '' } = object.metadata
  const older = ofPath.filter((other) => !isDeleting(other) && byAge(other, object) < 0)
  const about = { type: PATH_UNIQUE, observedGeneration: object.metadata.generation ?? 0 }
  const path = `spec.path "${object.spec.path}"`
  const remedy = 'Give this one a path of its own, such as its namespace and name'
  const near = older.find(({ metadata }) => metadata.namespace === namespace)
  if (near) {
    const message = `${path} is also that of GitProject ${near.metadata.name}, which is older: whoever asks for it gets that one. ${remedy}.`
    return { ...about, status: 'False', reason: 'PathTaken', message }
  }
  if (!holds(namespace, object.spec.path)) {
    const message = `${path} does not begin with ${namespace}/: only callers of this namespace get this project. ${remedy}, or have the path listed for namespace ${namespace} in the ConfigMap ${PROJECT_PATHS} of Berth's namespace.`
    return { ...about, status: 'False', reason: 'PathNotHeld', message }
  }
  if (older.some((other) => holds(other.metadata.namespace ?? '', other.spec.path))) {
    const message = `${path} is also that of an older GitProject in another namespace: only callers of this namespace get this one. ${remedy}.`
    return { ...about, status: 'False', reason: 'PathTaken', message }
  }
  const was = conditionOf(object.status?.conditions, PATH_UNIQUE)
  return was && { ...about, status: 'True', reason: 'Unique', message: 'No older GitProject has this path.' }
}

/** The path was not taken so far, as far as anybody was told. */
export const isPathNews = ({ status }: GitProject, after: GitProjectStatus | undefined): boolean =>
  conditionOf(after?.conditions, PATH_UNIQUE)?.status === 'False' &&
  conditionOf(status?.conditions, PATH_UNIQUE)?.status !== 'False'
