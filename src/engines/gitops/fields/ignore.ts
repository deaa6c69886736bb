import { selectorOf } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { groupOf, partsOf } from '../../apply/index.ts'
import { wishesOf } from '../objects/annotations.ts'
import { managerOf, OWNER_LABEL } from '../objects/place.ts'
import { claimsOf } from './claims.ts'
import { type Counterpart, counterpartOf } from './counterpart.ts'
import { managedEntriesOf } from './managed-fields.ts'
import { inside, pathTree, replaced } from './path-tree.ts'

/** Fields that others may change: set when the object is made, and left alone from then on. */
export interface IgnoreRule {
  /** JSON pointers. */
  readonly paths: readonly string[]
  /** What is left out matches all. */
  readonly target?: {
    readonly group?: string
    readonly kind?: string
    readonly namespace?: string
    readonly name?: string
    /** In the API's own syntax: `app=web,tier in (a,b)`. */
    readonly labelSelector?: string
  }
}

/** Which fields of an object others may change. */
export interface IgnoreRules {
  /** JSON pointers, each once. */
  pathsOf(object: AnyObject): readonly string[]
}

/** Reads the rules; a selector that is none is an `invalid` failure that names its field. */
export function ignoreRules(rules: readonly IgnoreRule[]): IgnoreRules {
  const read = rules.map(({ paths, target }, index) => ({
    paths,
    isMeant: readTarget(target ?? {}, `spec.ignore[${index}].target`),
  }))
  return { pathsOf: (object) => [...new Set(read.filter(({ isMeant }) => isMeant(object)).flatMap(({ paths }) => paths))] }
}

function readTarget(target: NonNullable<IgnoreRule['target']>, field: string): (object: AnyObject) => boolean {
  const selects = selectorOf(target.labelSelector, `${field}.labelSelector`)
  const is = (wanted: string | undefined, value: string | undefined) => wanted === undefined || wanted === (value ?? '')
  return ({ apiVersion, kind, metadata }) =>
    is(target.group, groupOf(apiVersion)) &&
    is(target.kind || undefined, kind) &&
    is(target.namespace || undefined, metadata.namespace) &&
    is(target.name || undefined, metadata.name) &&
    selects(metadata.labels)
}

/** The object without the fields that others may change: so it is compared with the cluster. */
export function withoutIgnored(object: AnyObject, rules: IgnoreRules | undefined): AnyObject {
  if (!rules) return object
  const tree = pathTree(object, rules.pathsOf(object))
  return tree.size > 0 ? replaced(object, tree, undefined, NOTHING_INSTEAD) : object
}

const NOTHING_INSTEAD = { down: () => undefined, instead: () => undefined }

/**
 * What is applied over what is there. A field that others may change is left out when somebody else set it, all of it, so
 * that it is theirs; otherwise the value in the cluster is sent back, for leaving it out would remove what is ours in it.
 */
export function concede(object: AnyObject, live: AnyObject, rules: IgnoreRules | undefined, manager: string): AnyObject {
  if (!rules) return object
  const tree = pathTree(object, rules.pathsOf(object))
  if (tree.size === 0) return object
  const others = managedEntriesOf(live).filter((entry) => entry.manager !== manager)
  const claims = claimsOf(others.map(({ fields }) => fields))
  return replaced(object, tree, counterpartOf(object, live, claims), CONCEDED)
}

const CONCEDED = {
  down: (there: Counterpart, part: string) => there.at(part),
  instead: (value: unknown, there: Counterpart) => (isTheirs(value, there) ? undefined : there.live),
}

/** A value is theirs when all that is in it was set by one or another of them. */
function isTheirs(value: unknown, there: Counterpart): boolean {
  if (!there.claims.isAny) return false
  const parts = Array.isArray(value) || isRecord(value) ? Object.keys(value) : []
  return parts.every((part) => isTheirs(inside(value, part), there.at(part)))
}

/** Which fields are ours at all in the cluster: with `merge`, what others hold is no difference to mend. */
export function ourFields(object: AnyObject, live: AnyObject): (pointer: string) => boolean {
  const manager = managerOf(object.metadata.labels?.[OWNER_LABEL] ?? '')
  const ours = managedEntriesOf(live).filter((entry) => entry.manager === manager)
  const root = counterpartOf(object, live, claimsOf(ours.map(({ fields }) => fields)))
  return (pointer) => {
    let there = root
    // A field that was set as one piece is ours with all that is in it.
    let isInPiece = false
    for (const part of partsOf(pointer)) {
      isInPiece ||= there.claims.isPiece()
      there = there.at(part)
    }
    return there.claims.isAny || isInPiece
  }
}

/** Somebody put `ignore` on the object in the cluster: it stays as it is until the mark is taken off. */
export const isLeftAlone = (live: AnyObject): boolean => wishesOf(live).apply === 'ignore'
