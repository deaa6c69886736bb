import { readBody, type WebRequest } from '../../adapters/http/index.ts'
import { type Clock, Failure, seconds } from '../../std/index.ts'

/** A client that sends a form takes no longer. */
const READ_WITHIN = seconds(20)

/** Reads a form of so many bytes at most. Throws `invalid` for what is none, and `too-large`. */
export async function formIn(request: WebRequest, most: number, clock: Clock): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Failure('invalid', 'what was sent is no form', { remedy: 'Use the buttons on the pages' })
  const cancel = clock.after(READ_WITHIN, () => request.destroy())
  try {
    const body = await readBody(request, most)
    if (!body) throw new Failure('too-large', `a form may have ${most} bytes`)
    return new URLSearchParams(body.toString('utf8'))
  } finally {
    cancel()
  }
}
