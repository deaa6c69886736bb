import type { Duplex } from '../../adapters/grpc/index.ts'

/** The caller's messages, at the pace of who answers. */
export async function pour(
  incoming: AsyncIterator<Uint8Array>,
  answer: Pick<Duplex<Uint8Array, Uint8Array>, 'send' | 'closeSend' | 'cancel'>,
): Promise<void> {
  try {
    for (let next = await incoming.next(); !next.done; next = await incoming.next()) await answer.send(next.value)
    answer.closeSend()
  } catch {
    // The caller has hung up.
    answer.cancel()
  }
}
