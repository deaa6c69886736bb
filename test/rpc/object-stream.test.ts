import { toBinary } from '@bufbuild/protobuf'
import { equal, is, match } from 'uvu/assert'
import {
  collectBatch,
  Gitops,
  header,
  ObjectsToSynchronizeRequestSchema,
  type ObjectsToSynchronizeResponse,
  ObjectsToSynchronizeResponseSchema,
  objectChunk,
  refOfRequest,
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
    is(hex(toBinary(ObjectsToSynchronizeRequestSchema, request)), '0a01701a030a0167ca3e00d03e01')
    const said = header('c', 7n, { digest: 'd', unchanged: true })
    is(hex(toBinary(ObjectsToSynchronizeResponseSchema, said)), '0a0c0a01631007ca3e0164d03e01')
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
    ['a second trailer', [header('c', 1n), trailer(), trailer()]],
  ]
  for (const [why, messages] of MISPLACED)
    it(`is refused with ${why}`, async () => is((await refusal(...messages)).code, 'internal', why))

  it('is refused beyond the size that its reader allows', async () => {
    is((await refusal(header('c', 1n), objectChunk('a', new Uint8Array(101)))).code, 'too-large')
  })
})
