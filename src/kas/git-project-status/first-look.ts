import type { Revision } from '../../adapters/git/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import { type GitProject, isDeleting, isTrue, keyOf, type Ref, refOf } from '../../api/index.ts'
import type { Polls } from '../ports/ports.ts'
import { failureIn } from '../ports/sightings.ts'
import { projectFrom } from '../projects/project.ts'

interface Look {
  generation: number | undefined
  ending: AbortController
}

/**
 * Follows the default branch of projects, or looks who answers for artifacts, where nothing is known, or nothing good, until they could be read once.
 * Whatever is found goes the way of every poll. The answer ends it.
 */
export function lookFirst(cache: Cache<GitProject>, polls: Polls): () => void {
  const looks = new Map<string, Look>()

  const consider = (ref: Ref) => {
    const key = keyOf(ref)
    const object = cache.get(ref)
    const known = looks.get(key)
    if (known && known.generation === object?.metadata.generation) return
    known?.ending.abort()
    looks.delete(key)
    if (!object || isDeleting(object) || !needsLook(object)) return
    const look: Look = { generation: object.metadata.generation, ending: new AbortController() }
    looks.set(key, look)
    void untilSeen(polls, object, look.ending.signal).finally(() => {
      if (looks.get(key) === look) looks.delete(key)
    })
  }

  const forget = cache.onChange((now, before) => {
    const changed = now ?? before
    if (changed) consider(refOf(changed))
  })
  for (const object of cache.all()) consider(refOf(object))
  return () => {
    forget()
    for (const { ending } of looks.values()) ending.abort()
  }
}

const needsLook = ({ metadata, status }: GitProject): boolean =>
  status?.observedGeneration !== metadata.generation || !isTrue(status?.conditions, 'Ready')

async function untilSeen(polls: Polls, object: GitProject, ended: AbortSignal): Promise<void> {
  const by = { caller: { namespace: object.metadata.namespace ?? '' }, renew: async () => undefined }
  const project = projectFrom(object)
  // Neither charts nor artifacts have a default: it is only asked whether they are there.
  const revision: Revision = project.type === 'git' ? { kind: 'default' } : { kind: 'refs', name: 'refs/tags/*' }
  const following = polls.follow(project, revision, by)
  try {
    let seen = await following.next(undefined, ended)
    while (seen && failureIn(seen)) seen = await following.next(seen, ended)
  } finally {
    following.close()
  }
}
