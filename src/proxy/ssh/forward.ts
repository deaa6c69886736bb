import { connectToPod, type PodPort } from '../../adapters/kube/index.ts'
import type { SshChannel } from '../../adapters/ssh/index.ts'
import { type Clock, seconds } from '../../std/index.ts'
import type { Place } from './inside.ts'

/** A client that sends no more is mostly gone, and the port cannot be told: what still comes has this long between its parts. */
const QUIET = seconds(10)

/** Joins a port on the workspace's loopback with a channel. Throws while the channel is not accepted. */
export async function forwardPort(place: Place, port: number, accept: () => SshChannel, clock: Clock): Promise<void> {
  const line = await connectToPod(place.kube, { ...place, port })
  const channel = accept()
  channel.closed.addEventListener('abort', line.close, { once: true })
  if (channel.closed.aborted) line.close()
  const rest = createRest(line, clock)
  // What comes back tells how it ended.
  void send(line, channel).then(rest.begin, () => undefined)
  try {
    for await (const bytes of line.bytes) {
      rest.renew()
      await channel.write(bytes)
    }
  } finally {
    rest.end()
    channel.end()
  }
}

async function send(line: PodPort, { input }: SshChannel): Promise<void> {
  for await (const bytes of input) await line.send(bytes)
}

function createRest({ close }: PodPort, clock: Clock) {
  let cancel: (() => void) | undefined
  let isOver = false
  const begin = () => {
    if (!isOver) cancel = clock.after(QUIET, close)
  }
  return {
    begin,
    renew() {
      if (!cancel) return
      cancel()
      begin()
    },
    end() {
      isOver = true
      cancel?.()
    },
  }
}
