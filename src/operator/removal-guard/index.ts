/**
 * What of a GitOpsDeploymentSet or a Preview may go by itself because nothing asks for it any more: not so much at once that it could be an
 * accident. Read decide.ts, which is pure; statement.ts says it.
 */
export { decideRemoval, endOfRemovals, type RemovalRule, type Removals } from './decide.ts'
export { isRemovalHeld, REMOVAL_HELD, removalStatement, tellOfRemoval } from './statement.ts'
