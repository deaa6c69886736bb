/**
 * The vocabulary of the cluster: kinds, their types (generated from crds/), labels, annotations, conditions.
 * Nothing here talks to a server. Read kube-object.ts first, then the file of the kind you look for.
 */
export { type Condition, conditionOf, isTrue, type Statement, withConditions } from './conditions.ts'
export {
  type AnyObject,
  apiVersionOf,
  type CustomObject,
  hasFinalizer,
  isDeleting,
  type Kind,
  type KubeObject,
  keyOf,
  nameOf,
  type ObjectMeta,
  type OwnerReference,
  ownedBy,
  type Ref,
  refFromKey,
  refOf,
} from './kube-object.ts'
