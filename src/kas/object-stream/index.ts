/**
 * The stream of manifests: which files of a commit a caller asked for, within which limits, and how they are sent
 * (Header, Object*, Trailer, then the end). Commits come from git-polling/ and rights from authorization/, through the ports of
 * kas. Read stream.ts first, then select.ts, changes.ts and glob.ts.
 */
export { changesSince } from './changes.ts'
export { parseGlob } from './glob.ts'
export { createChoose, digestOf, type StreamLimits, select } from './select.ts'
export { createObjectStreamService } from './stream.ts'
