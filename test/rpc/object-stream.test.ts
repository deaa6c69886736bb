import { toBinary } from '@bufbuild/protobuf'
import { equal, is, match, ok } from 'uvu/assert'
import {
  type Batch,
  collectBatch,
  completed,
  Gitops,
  header,
  linkObject,
  ObjectsToSynchronizeRequestSchema,
  type ObjectsToSynchronizeResponse,
  ObjectsToSynchronizeResponseSchema,
  objectChunk,
  refOfRequest,
  removedObject,
  requestFor,
  trailer,
} from '../../src/rpc/index.ts'
import { Failure, isFailure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

async function* stream(...messages: ObjectsToSynchronizeResponse[]): AsyncGenerator<ObjectsToSynchronizeResponse> {
  yield* messages
}

async function refusal(...messages: ObjectsToSynchronizeResponse[]): Promise<Failure> {
  try {
    await collectBatch(stream(...messages), 100)
  } catch (thrown) {
    if (isFailure(thrown)) return thrown
    throw thrown
  }
  throw new Failure('internal', 'it was taken')
}

const bytes = (text: string): Uint8Array => Buffer.from(text)
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex')

describe('object stream: the wire', (it) => {
  it('has the names and numbers of its peers', () => {
    is(Gitops.typeName, 'gitlab.agent.gitops.rpc.Gitops')
    is(Gitops.method.getObjectsToSynchronize.name, 'GetObjectsToSynchronize')
    const request = requestFor({ projectId: 'p', ref: { kind: 'branch', name: 'b' }, commitId: 'c', globs: ['g'] })
    // 1: "p", 2: "c", 3: {1: "g"}, 4: {2: "b"}; 1002: true asks for links, and means nothing to the others.
    is(hex(toBinary(ObjectsToSynchronizeRequestSchema, request)), '0a01701201631a030a01672203120162d03e01')
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, header('c', 7n))), '0a050a01631007')
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, objectChunk('s', bytes('d')))), '12060a0173120164')
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, trailer())), '1a00')
  })

  it('adds to them only above a thousand, and only when it is asked for', () => {
    const request = requestFor({ projectId: 'p', ref: { kind: 'default' }, commitId: '', globs: ['g'], digest: '' })
    is(hex(toBinary(ObjectsToSynchronizeRequestSchema, request)), '0a01701a030a0167ca3e00d03e01d83e01')
    const said = header('c', 7n, { digest: 'd', unchanged: true })
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, said)), '0a0c0a01631007ca3e0164d03e01')
  })

  it('asks who wrote the commit, and tells it', async () => {
    const request = requestFor({ projectId: 'p', ref: { kind: 'default' }, commitId: '', globs: ['g'], about: true })
    is(hex(toBinary(ObjectsToSynchronizeRequestSchema, request)), '0a01701a030a0167d03e01e03e01')
    const said = header('c', 7n, { author: 'a', subject: 's' })
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, said)), '0a0d0a01631007e23e0161ea3e0173')
    const batch = await collectBatch(stream(said, trailer()))
    equal([batch?.author, batch?.subject], ['a', 's'])
  })

  it('tells what has changed since the commit of the request', () => {
    const said = header('c', 7n, { digest: 'd', unchanged: false, changes: true })
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, said)), '0a0c0a01631007ca3e0164d83e01')
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, removedObject('s'))), '12060a0173d03e01')
  })

  it('carries each kind of ref there and back', () => {
    for (const ref of [
      { kind: 'default' as const },
      { kind: 'tag' as const, name: 'v1' },
      { kind: 'branch' as const, name: 'b' },
      { kind: 'commit' as const, name: 'c' },
      { kind: 'full' as const, name: 'refs/pull/7/head' },
      { kind: 'short' as const, name: 's' },
      { kind: 'semver' as const, name: '1.x' },
    ]) {
      equal(refOfRequest(requestFor({ projectId: 'p', ref, commitId: '', globs: ['**'] })), ref)
    }
  })
})

describe('object stream: the batch', (it) => {
  it('is nothing when the stream ends at once', async () => is(await collectBatch(stream()), undefined))

  it('joins consecutive chunks of one file', async () => {
    const batch = await collectBatch(
      stream(
        header('c', 1n),
        objectChunk('a', bytes('x')),
        objectChunk('a', bytes('y')),
        objectChunk('b', bytes('z')),
        trailer(),
      ),
    )
    equal(
      batch?.files.map(({ source, data }) => [source, Buffer.from(data).toString()]),
      [
        ['a', 'xy'],
        ['b', 'z'],
      ],
    )
  })

  it('may be empty', async () => equal((await collectBatch(stream(header('c', 1n), trailer())))?.files, []))

  it('is dropped without its trailer', async () => {
    const failure = await refusal(header('c', 1n), objectChunk('a', bytes('x')))
    is(failure.code, 'unavailable')
    match(failure.message, 'before its trailer')
  })

  const MISPLACED: [why: string, messages: ObjectsToSynchronizeResponse[]][] = [
    ['an object first', [objectChunk('a', bytes('x'))]],
    ['a trailer first', [trailer()]],
    ['a second header', [header('c', 1n), header('c', 1n)]],
    ['a header without a commit', [header('', 1n)]],
    ['an object without a source', [header('c', 1n), objectChunk('', bytes('x'))]],
    ['an object after the trailer', [header('c', 1n), trailer(), objectChunk('a', bytes('x'))]],
    ['an object though nothing changed', [header('c', 1n, { digest: 'd', unchanged: true }), objectChunk('a', bytes('x'))]],
    ['a removed object that nobody asked for', [header('c', 1n), removedObject('a')]],
    ['a second trailer', [header('c', 1n), trailer(), trailer()]],
  ]
  for (const [why, messages] of MISPLACED)
    it(`is refused with ${why}`, async () => is((await refusal(...messages)).code, 'internal', why))

  it('is refused beyond the size that its reader allows', async () => {
    is((await refusal(header('c', 1n), objectChunk('a', new Uint8Array(101)))).code, 'too-large')
  })
})

describe('object stream: changes', (it) => {
  const digested = { digest: 'd', unchanged: false }
  const given = async (...messages: ObjectsToSynchronizeResponse[]): Promise<Batch> => {
    const batch = await collectBatch(stream(...messages, trailer()))
    ok(batch)
    return batch
  }
  const first = () =>
    given(
      header('c1', 1n, digested),
      ...['a', 'b', 'c'].map((name) => objectChunk(name, bytes(name))),
      linkObject('l', 'submodule'),
    )
  const textsOf = ({ files }: Batch) => files.map(({ source, data, link = '' }) => source + Buffer.from(data).toString() + link)

  it('replace, add and remove files, and leave the very same to the others', async () => {
    const before = await first()
    const news = await given(
      header('c2', 1n, { digest: 'e', unchanged: false, changes: true }),
      removedObject('c'),
      removedObject('never seen'),
      objectChunk('b', bytes('x')),
      objectChunk('b', bytes('y')),
      objectChunk('l', bytes('file')),
      objectChunk('n', bytes('')),
    )
    const after = completed(news, before)
    equal(textsOf(after), ['aa', 'bxy', 'lfile', 'n'])
    is(after.files[0], before.files[0])
    equal([after.commitId, after.digest, after.changes, after.removed], ['c2', 'e', undefined, undefined])
  })

  it('are none when nothing changed: the very same list', async () => {
    const before = await first()
    const after = completed(await given(header('c2', 1n, { digest: 'd', unchanged: true })), before)
    is(after.files, before.files)
    equal([after.commitId, after.unchanged], ['c2', undefined])
  })

  it('are everything when the server says no more of them', async () => {
    const after = completed(await given(header('c2', 1n, digested), objectChunk('z', bytes('z'))), await first())
    equal(textsOf(after), ['zz'])
  })
})
