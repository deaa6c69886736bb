import { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { Failure, isFailure } from '../../std/index.ts'
import { type Pack, tooLarge } from './pack.ts'

/** How files lie in what was downloaded. */
export type Form = 'tar' | 'tar+gzip' | 'tar+zstd' | 'file'

/** Takes the files of an archive out into a pack; one that is no archive goes there under its name. */
export async function unpack(
  bytes: AsyncIterable<Uint8Array>,
  { form, name = '', about }: { form: Form; name?: string | undefined; about: string },
  pack: Pack,
  signal: AbortSignal,
): Promise<void> {
  if (form === 'file') return pack.add(pathOf(name, about), bytes)
  const reader = extract()
  const readAll = async () => {
    for await (const entry of reader) {
      const content = entry as AsyncIterable<Uint8Array> // its types leave open what is read of it
      await take(entry.header, content, { pack, about })
    }
  }
  const streams = form === 'tar' ? [] : [form === 'tar+gzip' ? createGunzip() : createZstdDecompress()]
  // What is no file counts too: links with contents, blocks of nothing.
  const bounded = async function* (chunks: AsyncIterable<Uint8Array>) {
    let left = MOST_UNPACKED
    for await (const chunk of chunks) {
      left -= chunk.length
      if (left < 0) throw tooLarge(about, `more than ${MOST_UNPACKED / 2 ** 20} MiB when it is unpacked`)
      yield chunk
    }
  }
  const into = reader as unknown as NodeJS.WritableStream // it is one, and its types do not say so
  const ends = await Promise.allSettled([
    readAll(),
    pipeline([Readable.from(bytes), ...streams, Duplex.from(bounded), into], { signal }),
  ])
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  // One that fails takes the other with it, which then knows no better than that.
  if (failures.length > 0) throw failures.find((failure) => isFailure(failure)) ?? unreadable(failures[0], about)
}

async function take(
  header: Header,
  content: AsyncIterable<Uint8Array>,
  { pack, about }: { pack: Pack; about: string },
): Promise<void> {
  const { type, name } = header
  if (type === 'directory') return drain(content)
  if (type === 'file' || type === 'contiguous-file') return pack.add(pathOf(name, about), content)
  if (type === 'symlink' || type === 'link') {
    pack.link(pathOf(name, about))
    return drain(content)
  }
  throw refused(about, `${JSON.stringify(name.slice(0, 300))} is a ${type}`)
}

/** An archive goes on only after its last entry was read. */
async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

const LONGEST_PATH = 4096

/** Bytes: the files, with what is between them. */
const MOST_UNPACKED = 768 * 2 ** 20

/** Of parts that lead nowhere else. */
function pathOf(name: string, about: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  const path = parts.join('/')
  if (path === '' || name.startsWith('/') || parts.includes('..') || /[\0\\]/.test(name) || path.length > LONGEST_PATH)
    throw refused(about, `${JSON.stringify(name.slice(0, 300))} is not a path inside it`)
  return path
}

const refused = (about: string, what: string): Failure =>
  new Failure('invalid', `the archive of ${about} is refused: ${what}`, {
    reason: 'ArtifactRefused',
    remedy: 'Pack regular files with relative paths only.',
  })

/** What zlib and tar-stream say of bytes that are no archive, and no failure of who sent them. */
function unreadable(thrown: unknown, about: string): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const isOfArchive = /^(?:Z_|ZSTD_)/.test(code) || (thrown instanceof Error && /tar|header|Unexpected end/i.test(thrown.message))
  return isOfArchive ? refused(about, 'it is damaged, or is none') : thrown
}
