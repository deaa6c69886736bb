import type { AnyObject } from '../../../api/index.ts'
import type { ObjectId } from '../../apply/index.ts'
import { PREFIX } from './annotations.ts'

const OURS = `${PREFIX}depends-on`
/** https://kpt.dev/reference/annotations/depends-on/ */
const THEIRS = 'config.kubernetes.io/depends-on'

export interface Dependencies {
  readonly ids: readonly ObjectId[]
  /** A reference that cannot be read: the rest of a sentence about the object. */
  readonly problem?: string
}

const NONE: Dependencies = { ids: [] }

/**
 * What must be healthy before the object is applied, and gone after it. Ours: `group/Kind/namespace/name`, with an empty
 * group for the core one and an empty namespace for what has none. Theirs: `group/namespaces/namespace/Kind/name` or
 * `group/Kind/name`. Several stand with commas between them.
 */
export function dependenciesOf({ metadata: { annotations } }: AnyObject): Dependencies {
  if (!annotations || !(OURS in annotations || THEIRS in annotations)) return NONE
  const ids: ObjectId[] = []
  for (const [annotation, read] of [[OURS, readOurs] as const, [THEIRS, readTheirs] as const]) {
    for (const reference of listed(annotations[annotation])) {
      const id = read(reference.split('/'))
      if (!id)
        return { ids: [], problem: `is annotated ${annotation}: ${JSON.stringify(reference)}; write ${FORMAT[annotation]}` }
      ids.push(id)
    }
  }
  return { ids }
}

const FORMAT = {
  [OURS]: 'group/Kind/namespace/name, with an empty group for the core one: /ConfigMap/shop/settings',
  [THEIRS]: 'group/namespaces/namespace/Kind/name or group/Kind/name',
}

const listed = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

function readOurs(parts: string[]): ObjectId | undefined {
  const [group = '', kind, namespace, name] = parts
  return parts.length === 4 && kind && name ? { group, kind, ...(namespace && { namespace }), name } : undefined
}

function readTheirs(parts: string[]): ObjectId | undefined {
  const [group = '', first, namespace, kind, name] = parts
  if (parts.length === 5)
    return first === 'namespaces' && namespace && kind && name ? { group, kind, namespace, name } : undefined
  return parts.length === 3 && first && namespace ? { group, kind: first, name: namespace } : undefined
}
