/**
 * Devfiles 2.0 to 2.3 as a library: text in, a checked `Devfile` out, or every mistake at once with its line and column.
 * It does no I/O and knows nothing of Kubernetes: what becomes of a devfile is decided by who reads it.
 * Read devfile.ts (the words), then parse.ts (the story), node.ts (positions), component.ts, agreement.ts (rules between parts).
 */
export type { Container, Devfile, Endpoint, EnvVar, Resources, Volume, VolumeMount } from './devfile.ts'
export { parseDevfile } from './parse.ts'
export { type Problem, sentenceOf } from './problem.ts'
