/**
 * What kas tells of repositories without their files: names of branches, with their commits where somebody wants them, and of files.
 * One stream for each wish, however many objects have it.
 */
export { branchOf, isAskedFor, refsOf, slugOf } from './branches.ts'
export { projectFor, projectRef } from './project.ts'
export { createRepositories, type NameSource, type NamesWish, type Repositories } from './repositories.ts'
export { viewStatement, waitingFor } from './view.ts'
