import type { Kube } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import type { Clock } from '../../../std/index.ts'
import type { Health } from '../../health/index.ts'
import type { IgnoreRules } from '../fields/ignore.ts'
import type { Desired } from '../objects/place.ts'
import type { Line } from '../state/book.ts'
import type { Standing, Taking } from './keeper.ts'

/** What the writing of each object of a set needs to know. */
export interface Writing {
  readonly kube: Kube
  readonly clock: Clock
  readonly owner: string
  readonly ignore: IgnoreRules | undefined
  /** Whether objects may be deleted and made anew for an immutable field. */
  readonly force: boolean
  /** Whether labels may be taken from namespaces that decide what their pods may do. */
  readonly podSecurityLabels: boolean
  readonly standing: Standing | undefined
  readonly taking: Taking | undefined
  readonly signal: AbortSignal | undefined
  /** The UID that is recorded of it. */
  uidOf(key: string): string | undefined
  /** What is known of it without asking. */
  lineOf(key: string): Line | undefined
  /** One request about it, with patience. */
  send<T>(item: Desired, request: () => Promise<T>): Promise<T>
  wrote(item: Desired, object: AnyObject): void
  healthOf(object: AnyObject | undefined): Health
}
