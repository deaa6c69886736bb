/**
 * Tells what the cluster's own roles allow somebody, and when that may be another answer: it asks the API server, remembers what it said,
 * and watches roles and bindings to know when to ask again. Who somebody is, is not its question (adapters/auth, kas).
 */
export { createPermissions, type Permissions } from './permissions.ts'
