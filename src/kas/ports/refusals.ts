import type { Door } from '../../adapters/grpc/index.ts'
import { asSentence, type Clock, createLimiter, Failure, type Log, networkOf, type Rate } from '../../std/index.ts'
import type { CheckToken } from './ports.ts'

/** Names in the log who was refused, and why. */
export type Refusals = (message: string, peer: string, thrown: unknown, about?: Record<string, string | undefined>) => void

/** Of one network: enough to see who it is, and not so many that nothing else can be seen. All are counted by their code. */
const TOLD: Rate = { burst: 20, perSecond: 0.2 }

/** The reason for whoever may not read a project, or asks for one that does not exist. */
export const PROJECT_NOT_ACCESSIBLE = 'ProjectNotAccessible'

export function createRefusals(log: Log, clock: Clock): Refusals {
  const ofNetwork = createLimiter(TOLD, clock)
  return (message, peer, thrown, about = {}) => {
    const { code, reason, message: why } = Failure.from(thrown)
    log[ofNetwork(networkOf(peer)) === 0 ? 'warn' : 'debug'](message, { peer, ...about, code, reason, why })
  }
}

/** For services whose calls all show a token. Who is refused is named in the log: from where, for what, and why. Never the token. */
export const requireToken =
  (checkToken: CheckToken, refused: Refusals): Door =>
  async ({ metadata, peer, path }) => {
    try {
      await checkToken(metadata('authorization'), peer)
    } catch (thrown) {
      refused('A caller was refused', peer, thrown, { method: path })
      throw thrown
    }
  }

/** For a status: whole sentences, and no word of an internal error but these. */
export function sentenceOf({ code, message, remedy }: Failure, internal: string): string {
  const what = code === 'internal' ? internal : message
  return `${asSentence(what)}${remedy ? ` ${remedy}` : ''}`
}
