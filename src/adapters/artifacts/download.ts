import { createHash } from 'node:crypto'
import { Failure, minutes } from '../../std/index.ts'
import type { CommitLine } from '../git/index.ts'
import { type Pack, tooLarge } from './pack.ts'
import { type Form, unpack } from './unpack.ts'
import { unreachable, type WebAnswer } from './visit.ts'

/** One archive, or file, of an artifact. */
export interface ArtifactPart {
  /** SHA-256 of what is sent, in hexadecimal digits; `undefined` where nobody has told it. */
  digest: string | undefined
  form: Form
  /** Of a file that is no archive. */
  name: string | undefined
  /** A chart: all of it lies in one folder, which is left out. */
  isChart: boolean
  from(): Promise<WebAnswer>
}

/** An artifact that was found, with who made it and what it is called. */
export interface FoundArtifact extends CommitLine {
  downloads: readonly ArtifactPart[]
}

/** However large it is: longer than that, and somebody only wants to hold up others. */
export const DOWNLOAD_WITHIN = minutes(10)

/** Bytes that are sent. */
const MOST_SENT = 512 * 2 ** 20

interface Destination {
  about: string
  into: Pack
  signal: AbortSignal
}

/** Nothing of it counts before the last byte was what its digest names. */
export async function download(
  { digest, form, name, isChart, from }: ArtifactPart,
  { about, into, signal }: Destination,
): Promise<void> {
  const answer = await from()
  const hash = createHash('sha256')
  let isWhole = false
  let bytes = 0
  async function* sent(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of answer.body) {
        bytes += chunk.length
        if (bytes > MOST_SENT) throw tooLarge(about, `more than ${MOST_SENT / 2 ** 20} MiB`)
        hash.update(chunk)
        yield chunk
      }
    } catch (thrown) {
      throw unreachable(answer, thrown)
    }
    isWhole = digest === undefined || hash.digest('hex') === digest
    if (!isWhole) throw altered(about)
  }
  await unpack(sent(), { form, name, about }, isChart ? withoutFolder(into, about) : into, signal)
  // What stands behind the end of an archive is not read by whoever unpacks it.
  if (!isWhole) throw altered(about)
}

/** A chart is packed in a folder of its name. */
function withoutFolder(pack: Pack, about: string): Pack {
  const inside = (path: string): string => {
    const [, rest] = /^[^/]+\/(.+)$/s.exec(path) ?? []
    if (rest !== undefined) return rest
    throw new Failure(
      'invalid',
      `the archive of ${about} is refused: ${JSON.stringify(path.slice(0, 300))} is beside the chart`,
      {
        reason: 'ArtifactRefused',
        remedy: 'Pack it with `helm package`.',
      },
    )
  }
  return { add: (path, content) => pack.add(inside(path), content), link: (path) => pack.link(inside(path)) }
}

export const altered = (place: string): Failure =>
  new Failure('invalid', `${place}: what was sent is not what its digest names`, {
    reason: 'DigestMismatch',
    remedy: 'Push it anew; if it stays so, somebody changes it on the way.',
  })
