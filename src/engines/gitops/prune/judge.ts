import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { type ObjectId, sayIds } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { kindKey, kindsDeclaredBy } from '../objects/topological-order.ts'
import { type Finding, type Hold, holdOn } from './guards.ts'
import type { Sight } from './look.ts'
import { type Searching, strangersIn, strangersUnder } from './strangers.ts'

export interface Judging extends Searching {
  /** What of this sync is to stay, or stays because it asks to. */
  staying: readonly ObjectId[]
  /** Somebody has confirmed that this commit deletes. */
  confirmed: boolean
  /** Whether data is to be spared: not where the deployment itself is deleted by a policy that says so. */
  sparesData: boolean
}

/** Whether one object may go that is there and ours. What would take objects of this very sync along never may. */
export async function judge({ id }: Held, sight: Sight, judging: Judging): Promise<Hold | undefined> {
  if (sight.word !== 'there') return undefined
  const { kind } = id
  const members = membersOf(id, sight.object)
  const own = members && judging.staying.filter(members)
  if (own && own.length > 0)
    return holdOn({ kind, strangers: `${sayIds(own, 3)}, which ${own.length === 1 ? 'is' : 'are'} to stay` })
  if (judging.confirmed) return undefined
  const finding: Finding = {
    kind,
    asksFirst: sight.asksFirst,
    data: judging.sparesData ? dataOf(sight.object) : undefined,
    strangers: await strangersOf(id, sight.object, judging),
  }
  return holdOn(finding)
}

const isNamespace = ({ group, kind }: ObjectId): boolean => group === '' && kind === 'Namespace'

/** These go with the object when it goes: the content of a namespace, the resources of a definition. */
export function membersOf(id: ObjectId, object: AnyObject | undefined): ((other: ObjectId) => boolean) | undefined {
  if (isNamespace(id)) return ({ namespace }) => namespace === id.name
  if (!object) return undefined
  const kinds = kindsDeclaredBy({ object })
  return kinds.length > 0 ? (other) => kinds.includes(kindKey(other)) : undefined
}

async function strangersOf(id: ObjectId, object: AnyObject | undefined, judging: Judging): Promise<string | undefined> {
  if (isNamespace(id)) return strangersIn(id.name, judging)
  return object && kindsDeclaredBy({ object }).length > 0 ? strangersUnder(object, judging) : undefined
}

/** A claim without a volume, and a volume without content, hold nothing. */
function dataOf(object: AnyObject | undefined): string | undefined {
  if (!object || !isRecord(object.status)) return undefined
  const { kind, status } = object
  const { phase, readyToUse } = status
  if (kind === 'PersistentVolumeClaim' && phase === 'Bound') return 'it is bound to a volume with data'
  if (kind === 'PersistentVolume' && (phase === 'Bound' || phase === 'Released')) return 'it is a volume with data'
  if ((kind === 'VolumeSnapshot' || kind === 'VolumeSnapshotContent') && readyToUse === true) return 'it is a snapshot of data'
  return undefined
}

export const keysOf = (held: readonly Held[]): Set<string> => new Set(held.map(({ key }) => key))
