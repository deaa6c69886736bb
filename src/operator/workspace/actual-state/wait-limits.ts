import { minutes, seconds } from '../../../std/index.ts'
import type { StepName } from './evidence.ts'

/** One thing that goes wrong. */
export interface TroubleCause {
  step: StepName
  /** The rest of a sentence that begins with the name of what is in trouble. */
  what: string
  /** One sentence for the owner of the workspace. */
  remedy: string
  waitLimit: number
}

/** The person to ask about things that the owner of a workspace cannot change. */
export const ADMIN = "an administrator of the target's cluster"
export const RESTART = 'set desiredState to RestartRequested'

/** How long a trouble that may pass is waited for, milliseconds, and why so long. After that the workspace is Failed. */
export const WAIT_LIMITS = {
  /** It does not pass unless somebody changes something. Where it does all the same, the workspace recovers by itself. */
  none: 0,
  /** A group of nodes that grows takes two to four minutes until the new node takes pods. */
  nodes: minutes(5),
  /** Providers make a volume in under a minute, and the kubelet tries a mount again at the latest after two. */
  volumes: minutes(3),
  /** A volume on a node that is gone is taken from it by force after six minutes. */
  detaching: minutes(7),
  /** The kubelet pulls again after 10, 20 and 40 seconds: four attempts. */
  registry: minutes(2),
  /** A limit of a registry is over soon; pulling goes on meanwhile. */
  pullLimit: minutes(5),
  /** Objects that Berth applies beside the Deployment are there within the second; caches of the target may be late. */
  companions: minutes(1),
  /** A webhook or a runtime that is being updated is back soon. */
  restarts: minutes(2),
  /** The deadline of the Deployment itself. Programs may start slowly. */
  start: minutes(10),
  /** Nothing here ends the wait. */
  forever: Number.POSITIVE_INFINITY,
} as const

/** A pod that is a few moments old is in no trouble yet. */
export const GRACE = seconds(10)
