import { type Backoff, minutes, seconds } from '../../std/index.ts'

/** gRPC takes 4 MiB per message, and two hops put the data into messages of their own. Bytes. */
export const MESSAGE_BYTES = 4 * 2 ** 20 - 64

/** The number of tunnels that an agent keeps. */
export interface PoolSize {
  /** That wait for a request. */
  idle: number
  /** That are opened at once when there are fewer. */
  step: number
  most: number
  /** So long there must have been enough of them before one that has served is not opened again. Milliseconds. */
  surplus: number
}

/** As GitLab's agent has it. */
export const POOL: PoolSize = { idle: 2, step: 10, most: 500, surplus: minutes(1) }
export const PATIENCE: Backoff = { base: seconds(1), max: seconds(20), factor: 1.6, jitter: 0.2 }
/** After so long without a failure the next one is the first again. Milliseconds. */
export const FORGIVEN = seconds(25)
/** A tunnel that ends sooner without having served is not opened again at once. Milliseconds. */
export const BRIEF = seconds(1)
/** So long a stream may be open before its agent says what it answers. Milliseconds. */
export const SILENCE = seconds(15)
/** Of one agent in one kas: several pods with 500 each. More is an attack. */
export const MOST_OF_AN_AGENT = 5000
