/**
 * What the cluster's own roles say about who may open a workspace, for installations that want them to count. Read rights.ts.
 */
export { createRights } from './rights.ts'
