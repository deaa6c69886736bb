import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { KubeObject, Namespace, Ref } from '../../api/index.ts'
import type { Secret } from '../../std/index.ts'
import type { Space } from './desired.ts'
import type { ApiEndpoint } from './kubeconfig.ts'
import type { Pieces } from './pieces.ts'

/** A cluster in which spaces are made: the operator's own, or another that it reaches. */
export interface Site {
  /** Whose cluster it is; absent: the operator's own. */
  agent?: Ref
  kube: Kube
  /** Of spaces. */
  namespaces: Cache<Namespace>
  pieces: Pieces
  /** How the members of a space reach it. */
  endpoint(): ApiEndpoint
  /** A token for the members, valid as long as the tier says. */
  issue(space: Space): Promise<Secret<string>>
  /** The UID of the service account that such a token is bound to, as far as it is known. */
  accountUid(space: Space): string | undefined
  /** The service account of a space that was made before. */
  accountIn(namespace: string): KubeObject | undefined
}
