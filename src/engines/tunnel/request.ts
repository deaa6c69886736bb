import type { CallOptions, Duplex } from '../../adapters/grpc/index.ts'
import { Failure } from '../../std/index.ts'
import { callThrough } from './carrier.ts'
import { MESSAGE_BYTES } from './limits.ts'
import type { Tunnel } from './tunnel.ts'

/** Makes a request, `/service/method`, through a tunnel that was taken; gives the call as if the agent had been dialled. */
export function request(
  tunnel: Tunnel,
  path: string,
  { metadata = {}, signal }: CallOptions = {},
): Duplex<Uint8Array, Uint8Array> {
  try {
    tunnel.start(path, metadata)
  } catch (thrown) {
    // Nobody would ever put it back. The agent opens another one.
    tunnel.finish()
    throw thrown
  }
  const carrier = {
    said: () => tunnel.said(),
    async send(data: Uint8Array) {
      if (data.length <= MESSAGE_BYTES) await tunnel.send({ case: 'message', value: { data } })
      else tunnel.end(tooLarge(data.length))
    },
    closeSend: () => void tunnel.send({ case: 'closeSend', value: {} }),
    finish: () => tunnel.finish(),
    end: (why: Failure) => tunnel.end(why),
  }
  return callThrough(carrier, signal)
}

const tooLarge = (bytes: number) =>
  new Failure('too-large', `a message has ${bytes} bytes; ${MESSAGE_BYTES} are the most`, {
    reason: 'MessageTooLarge',
    remedy: 'Send it in pieces.',
  })
