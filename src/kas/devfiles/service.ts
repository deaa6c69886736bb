import { create } from '@bufbuild/protobuf'
import { type Door, type GrpcService, offer } from '../../adapters/grpc/index.ts'
import { Devfiles } from '../../rpc/index.ts'
import { Failure, type Log } from '../../std/index.ts'
import type { FetchDevfile } from './fetch.ts'

/** `door`: lets the operator in, and nobody else. */
export const createDevfileService = ({
  door,
  fetchDevfile,
  log,
}: {
  door: Door
  fetchDevfile: FetchDevfile
  log: Log
}): GrpcService =>
  offer(
    Devfiles,
    {
      async fetchDevfile({ url }) {
        try {
          return create(Devfiles.method.fetchDevfile.output, { content: Buffer.from(await fetchDevfile(url), 'utf8') })
        } catch (thrown) {
          const { code, reason, message } = Failure.from(thrown)
          log.warn('a devfile was not fetched', { code, reason, why: message })
          throw thrown
        }
      },
    },
    door,
  )
