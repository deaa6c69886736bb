import type { Door } from '../adapters/grpc/index.ts'
import type { Knock } from './ports.ts'
import type { Refusals } from './refusals.ts'

/** For services whose calls all show a token. Who is refused is named in the log: from where, for what, and why. Never the token. */
export const createDoor =
  (knock: Knock, refused: Refusals): Door =>
  async ({ metadata, peer, path }) => {
    try {
      await knock(metadata('authorization'), peer)
    } catch (thrown) {
      refused('A caller was refused', peer, thrown, { method: path })
      throw thrown
    }
  }
