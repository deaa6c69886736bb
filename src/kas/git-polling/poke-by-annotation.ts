import type { Cache } from '../../adapters/kube/index.ts'
import { annotations, type GitProject, refOf } from '../../api/index.ts'
import type { Polls } from '../ports.ts'

const noteOf = (object: GitProject | undefined): string | undefined => object?.metadata.annotations?.[annotations.poke]

/** Anything new in the annotation wakes the polls of a project: whoever may write it may ask so, with no more than kubectl. */
export const pokeByAnnotation = (cache: Cache<GitProject>, polls: Polls): (() => void) =>
  cache.onChange((now, before) => {
    if (now && before && noteOf(now) !== undefined && noteOf(now) !== noteOf(before)) polls.poke(refOf(now))
  })
