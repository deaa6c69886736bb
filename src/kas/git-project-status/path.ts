import { conditionOf, type GitProject, type GitProjectStatus, isDeleting, type Statement } from '../../api/index.ts'
import { isOlder } from '../project.ts'

/** Whether callers who ask for the project's path get this project. */
const PATH_UNIQUE = 'PathUnique'

/**
 * The path is the id that agents use, and the oldest project of a path has it. A younger one is told; what stands in another
 * namespace is not named, since it may be private. `undefined` while there never was another one.
 */
export function pathStatement(object: GitProject, ofPath: readonly GitProject[]): Statement | undefined {
  const older = ofPath.filter((other) => !isDeleting(other) && isOlder(other, object))
  const about = { type: PATH_UNIQUE, observedGeneration: object.metadata.generation ?? 0 }
  const path = `spec.path "${object.spec.path}"`
  const remedy = 'Give this one a path of its own, such as its namespace and name'
  const near = older.find(({ metadata }) => metadata.namespace === object.metadata.namespace)
  if (near) {
    const message = `${path} is also that of GitProject ${near.metadata.name}, which is older: whoever asks for it gets that one. ${remedy}.`
    return { ...about, status: 'False', reason: 'PathTaken', message }
  }
  if (older.length > 0) {
    const message = `${path} is also that of an older GitProject in another namespace: only callers of this namespace get this one. ${remedy}.`
    return { ...about, status: 'False', reason: 'PathTaken', message }
  }
  const was = conditionOf(object.status?.conditions, PATH_UNIQUE)
  return was && { ...about, status: 'True', reason: 'Unique', message: 'No older GitProject has this path.' }
}

/** The path was not taken so far, as far as anybody was told. */
export const isNews = ({ status }: GitProject, after: GitProjectStatus | undefined): boolean =>
  conditionOf(after?.conditions, PATH_UNIQUE)?.status === 'False' &&
  conditionOf(status?.conditions, PATH_UNIQUE)?.status !== 'False'
