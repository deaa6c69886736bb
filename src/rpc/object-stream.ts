import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { Failure, isCommitId } from '../std/index.ts'
import {
  type ObjectsToSynchronizeRequest,
  ObjectsToSynchronizeRequestSchema,
  type ObjectsToSynchronizeResponse,
  ObjectsToSynchronizeResponseSchema,
} from './generated/gitops_pb.ts'

/**
 * What a caller follows in a repository. Peers that are not Berth know branch, tag and commit. `short` is a branch or else a
 * tag, `full` the whole name of a ref, `semver` a range of versions of which the highest tag is meant. `refs` means no commit, but all
 * refs that match: each is a file of that name, with the id of its commit in it. `chart` is NAME@VERSION of one in a repository of charts.
 */
export type GitRef =
  | { readonly kind: 'default' }
  | { readonly kind: 'branch' | 'tag' | 'commit' | 'full' | 'short' | 'semver' | 'refs' | 'chart'; readonly name: string }

/** What people mean by a name. A plain one is a branch or else a tag: kas looks which of them is there. Without any it is the default branch. */
export function gitRefFrom(written = ''): GitRef {
  const name = written.trim()
  if (name === '' || name === 'HEAD') return { kind: 'default' }
  if (isCommitId(name)) return { kind: 'commit', name }
  // So registries name an artifact.
  if (/^sha256:[0-9a-f]{64}$/.test(name)) return { kind: 'commit', name: name.slice('sha256:'.length) }
  if (name.startsWith('refs/heads/')) return { kind: 'branch', name: name.slice('refs/heads/'.length) }
  if (name.startsWith('refs/tags/')) return { kind: 'tag', name: name.slice('refs/tags/'.length) }
  return name.startsWith('refs/') ? { kind: 'full', name } : { kind: 'short', name }
}

export interface ObjectFile {
  /** Path in the repository, with `/` between its parts. */
  readonly source: string
  readonly data: Uint8Array
  /** Set when it is no file but a `symbolic link` or `submodule`. Then there are no data. */
  readonly link?: string
}

/** All that one call delivered: complete, or it would not exist. */
export interface Batch {
  readonly commitId: string
  readonly projectId: bigint
  readonly files: readonly ObjectFile[]
  /** Names the files with their contents, if that was asked for and the server knows how. */
  readonly digest?: string
  /** The caller has the files already, as its digest says: none were sent. */
  readonly unchanged?: boolean
  /** The caller has the other files already; these have come or changed, and those of `removed` are gone. See `completed`. */
  readonly changes?: boolean
  readonly removed?: readonly string[]
  /** Who wrote the commit, and the first line of its message, if that was asked for and can be told. Words of strangers. */
  readonly author?: string
  readonly subject?: string
}

export interface ObjectsWanted {
  /** Full path of the GitProject. */
  readonly projectId: string
  readonly ref: GitRef
  /** The last commit that was processed; empty at first. */
  readonly commitId: string
  readonly globs: readonly string[]
  /** Files by their names, wherever they are; each must be there. */
  readonly files?: readonly string[] | undefined
  /** Of the batch that the caller has; empty at first. Without it all files are sent with each commit. */
  readonly digest?: string | undefined
  /** Whether the author and the subject of the commit are wanted too. */
  readonly about?: boolean | undefined
  /** Whether nothing but the names of the files is wanted. */
  readonly names?: boolean | undefined
}

export const requestFor = ({
  projectId,
  ref,
  commitId,
  globs,
  files = [],
  digest,
  about = false,
  names = false,
}: ObjectsWanted): ObjectsToSynchronizeRequest =>
  create(ObjectsToSynchronizeRequestSchema, {
    projectId,
    commitId,
    paths: [
      ...globs.map((glob) => ({ path: { case: 'glob' as const, value: glob } })),
      ...files.map((file) => ({ path: { case: 'file' as const, value: file } })),
    ],
    // Left out, what a link took the place of would look as if it had been deleted.
    links: true,
    about,
    names,
    ...(digest === undefined ? {} : { digest, changes: true }),
    ...(ref.kind === 'default' ? {} : { ref: { ref: { case: ref.kind, value: ref.name } } }),
  })

/** An absent ref is the default branch; a ref without a name is the caller's mistake. */
export function refOfRequest({ ref }: ObjectsToSynchronizeRequest): GitRef {
  if (!ref) return { kind: 'default' }
  const { case: kind, value: name } = ref.ref
  if (kind === undefined || name === '')
    throw new Failure('invalid', 'ref must name a tag, a branch or a commit, or another ref that is known here', {
      reason: 'InvalidRequest',
    })
  return { kind, name }
}

/** Sent to callers that asked for it, and to no others: digests, and who wrote the commit. */
interface Asked {
  digest?: string
  unchanged?: boolean
  changes?: boolean
  author?: string
  subject?: string
}

type Said = NonNullable<MessageInitShape<typeof ObjectsToSynchronizeResponseSchema>['message']>

const response = (message: Said): ObjectsToSynchronizeResponse => create(ObjectsToSynchronizeResponseSchema, { message })

export const header = (commitId: string, projectId: bigint, asked?: Asked) =>
  response({ case: 'header', value: { commitId, projectId, ...asked } })

export const objectChunk = (source: string, data: Uint8Array) => response({ case: 'object', value: { source, data } })

export const linkObject = (source: string, link: string) => response({ case: 'object', value: { source, link } })

export const removedObject = (source: string) => response({ case: 'object', value: { source, removed: true } })

export const trailer = () => response({ case: 'trailer', value: {} })

/**
 * Reads one call to its end. `undefined`: the stream ended at once, there is nothing new.
 * A batch without trailer is refused: acting on half of it would prune what merely had not arrived.
 */
export async function collectBatch(
  responses: AsyncIterable<ObjectsToSynchronizeResponse>,
  maxBytes = 256 * 2 ** 20,
): Promise<Batch | undefined> {
  const open = new OpenBatch(maxBytes)
  for await (const { message } of responses) {
    if (message.case === 'header') open.header(message.value)
    else if (message.case === 'object') open.object(message.value)
    else if (message.case === 'trailer') open.trailer()
    else throw misplaced('a message of unknown kind')
  }
  return open.end()
}

/** The batch that a caller has from now on, after the batch `before`. Files that have not changed are the very same objects. */
export function completed({ files: sent, changes, removed = [], unchanged, ...given }: Batch, before: Batch): Batch {
  if (unchanged) return { ...given, files: before.files }
  if (!changes) return { ...given, files: sent }
  const files = new Map(before.files.map((file) => [file.source, file]))
  for (const source of removed) files.delete(source)
  // A copy: what has come lies in a piece of the stream, and few files would hold on to many pieces.
  for (const file of sent) files.set(file.source, { ...file, data: Buffer.from(file.data) })
  return { ...given, files: [...files.values()] }
}

type Head = Omit<Batch, 'files' | 'removed'>

/** A batch that is being received. It checks the order `Header, Object*, Trailer`. */
class OpenBatch {
  readonly #maxBytes: number
  readonly #files: { source: string; chunks: Uint8Array[]; link: string }[] = []
  readonly #removed: string[] = []
  #head: Head | undefined
  #complete = false
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  header({ commitId, projectId, digest = '', unchanged = false, changes = false, author = '', subject = '' }: Head): void {
    if (this.#head) throw misplaced('a second header')
    if (commitId === '') throw misplaced('a header without a commit')
    const said = { ...(digest !== '' && { digest }), ...(unchanged && { unchanged }), ...(changes && { changes }) }
    const about = { ...(author !== '' && { author }), ...(subject !== '' && { subject }) }
    this.#head = { commitId, projectId, ...said, ...about }
  }

  object({ source, data, link, removed }: { source: string; data: Uint8Array; link: string; removed: boolean }): void {
    if (!this.#head || this.#head.unchanged || this.#complete) throw misplaced('an object')
    if (source === '') throw misplaced('an object without a source')
    if (removed && !this.#head.changes) throw misplaced('a removed object')
    if (removed) return void this.#removed.push(source)
    this.#bytes += data.length
    if (this.#bytes > this.#maxBytes) throw new Failure('too-large', `the batch is larger than ${this.#maxBytes} bytes`)
    const last = this.#files.at(-1)
    if (last?.source === source) last.chunks.push(data)
    else this.#files.push({ source, chunks: [data], link })
  }

  trailer(): void {
    if (!this.#head || this.#complete) throw misplaced('a trailer')
    this.#complete = true
  }

  end(): Batch | undefined {
    if (!this.#head) return undefined
    if (!this.#complete) throw new Failure('unavailable', 'the object stream ended before its trailer; the batch is dropped')
    const files = this.#files.map(({ source, chunks, link }) => ({ source, data: joined(chunks), ...(link !== '' && { link }) }))
    return { ...this.#head, files, ...(this.#head.changes && { removed: this.#removed }) }
  }
}

function joined(chunks: Uint8Array[]): Uint8Array {
  const [only] = chunks
  return only && chunks.length === 1 ? only : Buffer.concat(chunks)
}

const misplaced = (what: string): Failure => new Failure('internal', `the object stream brought ${what} where none may be`)
