import { once } from 'node:events'
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js'
import { is } from 'uvu/assert'
import '../../../src/adapters/grpc/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const PATH = '/x.Echo/Echo'
const asIs = (bytes: Buffer): Buffer => bytes
const echo = {
  path: PATH,
  requestStream: true,
  responseStream: true,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const
const OFTEN = { 'grpc.keepalive_time_ms': 20, 'grpc.keepalive_permit_without_calls': 1 }
const NEVER = { 'grpc.keepalive_time_ms': 2 ** 31 - 1 }

describe('gRPC: connections that were told to go away', (it) => {
  for (const [who, ofServer, ofClient] of [
    ['the server', OFTEN, NEVER],
    ['the client', NEVER, OFTEN],
  ] as const)
    it(`bring their calls to an end, however often ${who} looks whether they are alive`, async () => {
      const server = new Server(ofServer)
      server.addService(
        { echo },
        {
          echo: (asked: ServerDuplexStream<Buffer, Buffer>) =>
            asked.on('data', (bytes) => asked.write(bytes)).on('end', () => asked.end()),
        },
      )
      const port = await new Promise<number>((resolve, reject) =>
        server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
          error ? reject(error) : resolve(bound),
        ),
      )
      const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), ofClient)
      const call: ClientDuplexStream<Buffer, Buffer> = client.makeBidiStreamRequest(PATH, asIs, asIs, new Metadata())
      const answers = async (word: string) => {
        call.write(Buffer.from(word))
        const [answer] = await once(call, 'data')
        is(answer.toString(), word)
      }
      try {
        await answers('before')
        server.tryShutdown(() => undefined)
        for (let n = 0; n < 5; n++) {
          await pause(systemClock, 5 * OFTEN['grpc.keepalive_time_ms'])
          await answers(`after ${n}`)
        }
        const status = once(call, 'status')
        call.end()
        is((await status)[0].code, 0)
      } finally {
        client.close()
        server.forceShutdown()
      }
    })
})
