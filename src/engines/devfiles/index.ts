/**
 * What Berth makes of devfiles, as far as it can be said without a cluster: with which parts no workspace is made, for the class or at
 * all, where parents are read from, and how commands, resources and Kubernetes objects in a devfile are read. Pure. The operator, `berth validate`
 * and the dashboard say the same because all ask here.
 * Not here: the specification (devfile/), and the objects that come of it (operator/workspace/desired).
 * Read check.ts and refusals.ts (the story), then override-rules.ts, manifests.ts, amounts.ts with resources.ts, event-steps.ts, addresses.ts and hosts.ts.
 */
export { addressOf, type DevfileAddress, MOST_KEPT } from './addresses.ts'
export { crossedAmounts, overMaxima } from './amounts.ts'
export { checkDevfile, leftToKas, UNRESOLVED } from './check.ts'
export {
  appliedAt,
  type EventCommand,
  type EventStep,
  longest,
  runningContainers,
  stepsOf,
  takersOf,
  timeToApply,
} from './event-steps.ts'
export { allowedUrl } from './hosts.ts'
export { hasPods, isOurs, manifestsByUri, readManifests, served, withManifestsRead } from './manifests.ts'
export { CONTAINER_OVERRIDES, fieldsIn, isReserved, POD_OVERRIDES } from './override-rules.ts'
export { type DevfileRefusal, sayRefusal } from './refusal.ts'
export { refusalsOf, remarksOn } from './refusals.ts'
export { isOwnResource, resourcesOf, withResources } from './resources.ts'
