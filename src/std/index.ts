/**
 * The house's own small standard library: failures, secrets, time, waiting, the log.
 * It knows nothing of Kubernetes or Git, and nothing in it does I/O of its own.
 * Read failure.ts first, then clock.ts and work-queue.ts.
 */
export { LRUCache } from 'lru-cache'
export {
  type AddressKind,
  type AddressRule,
  guardedLookup,
  isHostOrAddress,
  isRefusedHost,
  kindOfAddress,
  kindOfHost,
  plainAddress,
} from './address.ts'
export { type Backoff, waitOf } from './backoff.ts'
export {
  aborted,
  type Clock,
  every,
  hours,
  minutes,
  pause,
  seconds,
  systemClock,
  timestamp,
  unlessAborted,
  within,
} from './clock.ts'
export { type ConnectionLimits, createConnectionCounter, networkOf } from './connections.ts'
export { type Cron, lastMatch, nextMatch, parseCron, timeZoneOf } from './cron.ts'
export { durationOf, spelled } from './duration.ts'
export { eachOf } from './each-of.ts'
export { Failure, type FailureCode, type FailureDetails, failureReason, isFailure, sayFailure, unlessFailed } from './failure.ts'
export { harmless, harmlessLine, isHarmless } from './harmless.ts'
export { type Keys, type ListenerKeys, pemOf, renewing } from './keys.ts'
export { listenAt } from './listen.ts'
export { createLog, type Log, type LogFields, type LogLevel, silentLog } from './log.ts'
export { mergePatch } from './merge-patch.ts'
export { PACKAGE_FOLDER } from './package-folder.ts'
export { amountOf, quantity } from './quantity.ts'
export { type Buckets, createBuckets, createLimiter, type Limiter, type Rate } from './rate.ts'
export { defined, isRecord, recordIn } from './record.ts'
export { redactUrls } from './redact.ts'
export { remembered } from './remembered.ts'
export { Secret } from './secret.ts'
export {
  anyText,
  CLUSTER_SETTINGS,
  type EnvironmentVariables,
  type Flags,
  hostAndPort,
  integer,
  logLevel,
  optional,
  readSettings,
  required,
  type Setting,
  type SettingParser,
  type SettingTable,
  type SettingValues,
  setting,
  TRACE_SETTINGS,
  tlsFiles,
  toggle,
  wholeSeconds,
  words,
  wrongSetting,
} from './settings.ts'
export { createTally } from './tally.ts'
export { asSentence, beginningOf, isCommitId, isNear, withoutEnd } from './text.ts'
export { logFieldsOf, type Span, silentTracer, type Tracer, traceIdOf } from './trace.ts'
export { createTurnstile, type Turnstile } from './turnstile.ts'
export { areTooFarApart, VERSION_SKEW } from './version.ts'
export { matchesWildcard } from './wildcard.ts'
export { createWorkQueue, type WorkQueue } from './work-queue.ts'
export { parseYaml, type YamlLimits, type YamlProblem, type YamlText } from './yaml.ts'
export {
  createYamlReader,
  createYamlReaders,
  createYamlTreeReader,
  type ReadYaml,
  type ReadYamlTree,
  type YamlReaders,
} from './yaml-reader.ts'
export {
  parseYamlTree,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlScalar,
  type YamlSpot,
  type YamlTree,
  type YamlTreeText,
} from './yaml-tree.ts'
