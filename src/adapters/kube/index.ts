/**
 * The Kubernetes API as the house sees it: one client (`Kube`), caches that follow the API by list and watch, Events,
 * clients from other people's kubeconfigs,
 * and a passage for requests of others, as they are. Not here: what any kind means (api/) and when to act (engines/).
 * Read kube.ts (the port), then client.ts, connection.ts (the wire), watch.ts and store.ts (the caches).
 */

export {
  type AccessSubject,
  isAllowed,
  isAllowedToUs,
  mayUse,
  type ResourceAttributes,
  subjectOf,
  whoNeedsEntry,
  whoWeAre,
} from './access-review.ts'
export { capabilitiesOf } from './aggregated-discovery.ts'
export { type Answers, createAnswers } from './answers.ts'
export { type CacheOptions, type Caches, type CacheWiring, createCaches, untilListed, waitingFor } from './caches.ts'
export { connect, connectTo, type ServerOptions } from './client.ts'
export { type Meter, namespaceIn } from './connection.ts'
export { type Bell, createDoorbell } from './doorbell.ts'
export { causesOf, isNamespaceTerminating, type StatusCause, saidIn } from './errors.ts'
export { createEventRecorder, type EventRecorder, type Occurrence } from './events.ts'
export { isOrdinary, listableKinds, unlessGone } from './inhabitants.ts'
export { connectToPod, execInPod, type PodPort, type PodProcess } from './inside-pod.ts'
export type { ApplyHow, DeleteHow, Identity, JsonPatchStep, Kube, ListQuery, PatchHow, ReadOptions } from './kube.ts'
export { kubeFromSecret, readTarget, type TargetOptions } from './kubeconfig-secret.ts'
export { createMemoryOfHeap, createStrangeMemory, type Memory, sayShare, weightOf } from './memory.ts'
export { isAnswer, whyNoAnswer } from './no-answer.ts'
export { orBegunAnew } from './page-limit.ts'
export { type HttpHeaders, openPassage, type Passage, type PassageAnswer } from './passage.ts'
export { listPath, objectPath } from './paths.ts'
export { type Login, loginOf, tokenOfPerson } from './person.ts'
export type { Reach } from './reach.ts'
export { isNewer } from './resource-version.ts'
export { selectorFor, selectorOf } from './selector.ts'
export { chargeSpaces } from './spaces.ts'
export type { Cache } from './store.ts'
export { OF_KUBECONFIGS, OF_TARGETS, secretFinder, secretWatches } from './target-secrets.ts'
export { requestToken, reviewToken } from './token.ts'
export { keepFed, type Listing, type Sink } from './watch.ts'
