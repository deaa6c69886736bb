import type { DevfileReference } from '../../devfile/index.ts'
import { Failure, withoutEnd } from '../../std/index.ts'

/** Where a parent, or Kubernetes objects, are read from. */
export type DevfileAddress =
  /** A web page, which kas reads if it may. */
  | { by: 'page'; uri: string }
  /** A file in a GitProject, by the path of that; without a `ref` of its default branch. */
  | { by: 'project'; uri: string; project: string; file: string; ref: string }
  /** A file in the project of the workspace, of the commit that the devfile is of. */
  | { by: 'file'; uri: string }

/** Characters of a devfile with its parents: a status has room for them, and the status is where they stay. */
export const MOST_KEPT = 131_072

/** In another project: `berth://git/<path of the GitProject>/-/<file>?ref=<branch, tag or commit>`. */
const ELSEWHERE = /^berth:\/\/git\/([^?#]+)(?:\?ref=([^&#]+))?$/

/** Throws for what no workspace reads. `hasProject`: the devfile lies in a project, or the workspace has one. */
export function addressOf(reference: DevfileReference, hasProject: boolean): DevfileAddress {
  const uri = uriOf(reference)
  if (uri !== undefined && /^https:/i.test(uri)) return { by: 'page', uri }
  const [, place = '', ref = ''] = ELSEWHERE.exec(uri ?? '') ?? []
  const end = place.indexOf('/-/', 1)
  if (uri !== undefined && end > 0 && end + 3 < place.length)
    return { by: 'project', uri, project: place.slice(0, end), file: place.slice(end + 3), ref: decodeURIComponent(ref) }
  if (uri !== undefined && !/^[a-z][a-z0-9+.-]*:/i.test(uri) && hasProject) return { by: 'file', uri }
  throw new Failure('invalid', 'parents and Kubernetes objects are read from GitProjects, and by https, only', {
    reason: 'ParentNotAllowed',
    remedy:
      'write berth://git/<path of the GitProject>/-/<file>, a path relative to this file, or an https URL that kas may fetch',
  })
}

/** Devfiles of a registry are pages of it. Which registry is meant has to be said: there is none that everybody trusts. */
function uriOf(reference: DevfileReference): string | undefined {
  if (reference.by === 'uri') return reference.uri
  if (reference.by !== 'id' || reference.registryUrl === undefined) return undefined
  const path = [reference.id, ...(reference.version === undefined ? [] : [reference.version])].map(encodeURIComponent)
  return `${withoutEnd(reference.registryUrl, '/')}/devfiles/${path.join('/')}`
}
