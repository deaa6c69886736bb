import { type Clock, createLimiter, Failure, type Log, networkOf, type Rate } from '../std/index.ts'

/** Names in the log who was refused, and why. */
export type Refusals = (message: string, peer: string, thrown: unknown, about?: Record<string, string | undefined>) => void

/** Of one network: enough to see who it is, and not so many that nothing else can be seen. All are counted by their code. */
const TOLD: Rate = { burst: 20, perSecond: 0.2 }

export function createRefusals(log: Log, clock: Clock): Refusals {
  const ofNetwork = createLimiter(TOLD, clock)
  return (message, peer, thrown, about = {}) => {
    const { code, reason, message: why } = Failure.from(thrown)
    log[ofNetwork(networkOf(peer)) === 0 ? 'warn' : 'debug'](message, { peer, ...about, code, reason, why })
  }
}
