/**
 * Devfiles 2.0.0 to 2.3.0 as a library: text in, a checked `Devfile` out, or every mistake at once with its line and column.
 * It does no I/O and knows nothing of Kubernetes: parents come through a fetcher that is handed in, and what becomes of a
 * devfile is decided by who reads it.
 * Read devfile.ts (the words), then parse.ts (the story), schema.ts (the fields), component-rules.ts and its neighbours
 * (rules between parts), flatten.ts and merge.ts (parents, plugins, overrides), gitlab.ts (the other profile). They look at the
 * trees of std, in which everything has its place.
 * Not here: the pod that a devfile describes (operator/workspace/desired).
 */
export {
  type Command,
  type Container,
  type Devfile,
  type DevfileAttributes,
  type DevfileEndpoint,
  type DevfileEvents,
  type DevfileProject,
  type EnvVar,
  type Image,
  isAppliedAtStart,
  type ManifestComponent,
  type Resources,
  type Volume,
} from './devfile.ts'
export type { DevfileFetcher, FetchedText, ImportedText } from './flatten.ts'
export {
  type DevfileOptions,
  type DevfileProfile,
  type Flattened,
  flattenDevfile,
  PROFILES,
  parseDevfile,
  validateDevfile,
} from './parse.ts'
export { type DevfileFindings, type DevfileProblem, inOrder, type ProblemText, sentenceOf } from './problem.ts'
export type { DevfileReference } from './reference.ts'
