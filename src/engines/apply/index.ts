/**
 * Objects in a cluster are kept as they are wanted by one rule each: how an object is named (object-id.ts),
 * whose it is (owned-objects.ts), where it differs from what is wanted (differences.ts), and how it is brought back.
 * There are two ways to keep an object. `ownedObjects` sets what is wanted by server-side apply and leaves what others added;
 * `keepExactly` (exactly.ts) lets nothing stand in a field that is not wanted, and knows by canonical.ts how the server writes it.
 */
export { type Canonical, createCanonical } from './canonical.ts'
export { createOnce, createUnlessThere } from './create-once.ts'
export { differences, holds } from './differences.ts'
export { keepExactly } from './exactly.ts'
export {
  byKey,
  idOf,
  keyOfId,
  type ObjectId,
  refOfId,
  sayId,
  sayIds,
  sayKey,
} from './object-id.ts'
export { isOfOneObject } from './of-one-object.ts'
export { OBJECT_TAKEN, type OwnedObjects, ownedObjects, type Piece, removePiece } from './owned-objects.ts'
export { partsOf, pointerOf, unescaped, valueAt, withValueAt } from './pointer.ts'
