import { type Door, offer, type Service } from '../../adapters/grpc/index.ts'
import { Devfiles, fetchedDevfile } from '../../rpc/index.ts'
import { Failure, type Log } from '../../std/index.ts'
import type { Shelf } from './shelf.ts'

interface Desk {
  /** Lets the operator in, and nobody else. */
  door: Door
  shelf: Shelf
  log: Log
}

export const createDevfileService = ({ door, shelf, log }: Desk): Service =>
  offer(
    Devfiles,
    {
      async fetchDevfile({ url }) {
        try {
          return fetchedDevfile(await shelf(url))
        } catch (thrown) {
          const { code, reason, message } = Failure.from(thrown)
          log.warn('a devfile was not fetched', { code, reason, why: message })
          throw thrown
        }
      },
    },
    door,
  )
