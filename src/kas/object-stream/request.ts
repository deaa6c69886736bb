import { checkRevision, type Revision } from '../../adapters/git/index.ts'
import { type ObjectsToSynchronizeRequest, refOfRequest } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import type { Effort } from '../projects/tree.ts'
import { type Glob, parseGlob } from './glob.ts'
import type { Selection, StreamLimits } from './select.ts'

/** A request that makes sense. */
export interface StreamRequest {
  readonly revision: Revision
  /** The commit that the caller has. */
  readonly commitId: string
  readonly selection: Selection
  /** Of the files that the caller has; `undefined` if it knows nothing of digests. */
  readonly digest: string | undefined
  /** The caller wants only the files that have changed since its commit, where that is known. */
  readonly changes: boolean
  /** The caller wants to know who wrote the commit. */
  readonly about: boolean
}

/** Throws what is wrong with it at first sight, whoever asks. */
export function checkRequest({ projectId, paths }: ObjectsToSynchronizeRequest, limits: StreamLimits): void {
  if (projectId === '') throw malformed('project_id is empty')
  if (paths.length === 0) throw malformed('paths is empty')
  if (paths.length > limits.paths) throw malformed(`paths has ${paths.length} entries; at most ${limits.paths} are allowed`)
  if (paths.some(({ path }) => !path.value)) throw malformed('a path is empty')
}

/** It takes time in proportion to the patterns with all their alternatives. */
export function parseRequest(request: ObjectsToSynchronizeRequest, limits: StreamLimits, effort: Effort): StreamRequest {
  checkRequest(request, limits)
  const { commitId, paths, digest, links, changes, about, names } = request
  const revision = checkRevision(refOfRequest(request))
  const textsOf = (kind: 'glob' | 'file') => paths.flatMap(({ path }) => (path.case === kind ? [path.value] : []))
  return {
    commitId,
    digest,
    changes,
    about,
    revision,
    selection: { globs: parseGlobs(textsOf('glob'), effort), files: textsOf('file'), links, names },
  }
}

/** Characters of all patterns of a request, with each alternative in braces written out. */
const MOST_OF_PATTERNS = 32_768

/** Looks at none that is beyond the limit: they come from strangers. */
function parseGlobs(texts: readonly string[], effort: Effort): Glob[] {
  let length = 0
  return texts.map((text) => {
    const glob = parseGlob(text, effort)
    length += glob.length
    if (length > MOST_OF_PATTERNS)
      throw malformed(`paths stand for patterns of more than ${MOST_OF_PATTERNS} characters; write fewer braces`)
    return glob
  })
}

const malformed = (why: string) => new Failure('invalid', why, { reason: 'InvalidRequest' })
