import { isDeepStrictEqual } from 'node:util'
import { type KubeObject, nameOf } from '../../api/index.ts'
import { nameWithGroup, sayNames } from './shipped.ts'

/** Says in a line each what was made and what was changed between two looks at the same objects, but for what programs say of them. */
export function sayChanges(before: readonly KubeObject[], after: readonly KubeObject[]): string {
  const earlier = new Map(before.map((object) => [nameWithGroup(object), contentOf(object)]))
  const isNew = (object: KubeObject) => !earlier.has(nameWithGroup(object))
  const made = after.filter(isNew)
  const changed = after.filter(
    (object) => !(isNew(object) || isDeepStrictEqual(contentOf(object), earlier.get(nameWithGroup(object)))),
  )
  if (made.length + changed.length === 0) return `Nothing had to change: all ${after.length} objects are as they should be.\n`
  return lineOf('Made', made) + lineOf('Changed', changed)
}

const lineOf = (verb: string, objects: readonly KubeObject[]): string =>
  objects.length === 0 ? '' : `${verb} ${objects.length}: ${sayNames(objects.map(nameOf))}.\n`

/** Without what the API server counts and what controllers write into it, whenever they come to it. */
function contentOf({ metadata, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, generation: _generation, annotations = {}, ...kept } = metadata
  const { 'deployment.kubernetes.io/revision': _revision, ...others } = annotations
  const gathered = 'aggregationRule' in rest && { rules: undefined }
  return { ...rest, ...gathered, metadata: { ...kept, annotations: others }, status: undefined }
}
