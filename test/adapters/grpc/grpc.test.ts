import { toBinary } from '@bufbuild/protobuf'
import { Client, compressionAlgorithms, credentials, Metadata } from '@grpc/grpc-js'
import { equal, is, match, not, ok } from 'uvu/assert'
import { type Call, createObjectStream, type GrpcServer, offer, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import {
  type Batch,
  Gitops,
  header,
  type ObjectsToSynchronizeRequest,
  ObjectsToSynchronizeRequestSchema,
  type ObjectsToSynchronizeResponse,
  objectChunk,
  removedObject,
  requestFor,
  trailer,
} from '../../../src/rpc/index.ts'
import { createLog, Failure, isFailure, Secret, systemClock } from '../../../src/std/index.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

type Handler = (request: ObjectsToSynchronizeRequest, call: Call) => AsyncIterable<ObjectsToSynchronizeResponse>

/** Does this, and sends nothing. */
const answered = (work: (request: ObjectsToSynchronizeRequest, call: Call) => void): Handler =>
  async function* (request, call) {
    work(request, call)
    yield* []
  }

const never = new AbortController().signal
const wanted = { projectId: 'p', ref: { kind: 'default' as const }, globs: ['**'] }

describe('gRPC', (it) => {
  let handler: Handler = answered(() => undefined)
  let server: GrpcServer
  const lines: string[] = []

  it.before(async () => {
    const log = createLog('debug', { write: (line) => lines.push(line) })
    const service = offer(Gitops, { getObjectsToSynchronize: (request, call) => handler(request, call) })
    server = await serveGrpc({ address: '127.0.0.1:0', services: [service], clock: systemClock, log })
  })
  it.after(() => server.stop())

  const client = (address = server.address) =>
    createObjectStream({ address, token: async () => new Secret('token'), clock: systemClock })
  const failureFrom = async (thrown: unknown): Promise<Failure> => {
    handler = answered(() => {
      throw thrown
    })
    const stream = client()
    try {
      await stream.fetchObjects(wanted, never)
    } catch (failure) {
      if (isFailure(failure)) return failure
      throw failure
    } finally {
      stream.close()
    }
    throw new Failure('internal', 'it succeeded')
  }

  it('brings a failure to the other side with its reason and remedy', async () => {
    const failure = await failureFrom(new Failure('forbidden', 'nö', { reason: 'NotGranted', remedy: 'Füg es hinzu.' }))
    equal([failure.code, failure.message, failure.reason, failure.remedy], ['forbidden', 'nö', 'NotGranted', 'Füg es hinzu.'])
  })

  it('keeps what is internal to itself, and logs it', async () => {
    const failure = await failureFrom(new TypeError('/etc/secret'))
    is(failure.code, 'unavailable')
    not.match(failure.message, 'secret')
    match(lines.join(''), '/etc/secret')
  })

  it('passes the bearer token and whom it is for', async () => {
    const seen: (string | undefined)[] = []
    handler = answered((_request, call) => {
      seen.push(call.metadata('authorization'), call.metadata('berth-namespace'), call.metadata('berth-service-account'))
    })
    const stream = client()
    await stream.fetchObjects({ ...wanted, namespace: 'team', serviceAccount: 'deployer' }, never)
    stream.close()
    equal(seen, ['Bearer token', 'team', 'deployer'])
  })

  it('hands on the very files of the batch before when none of them has changed', async () => {
    const asked: (string | undefined)[] = []
    handler = async function* (request) {
      const { digest, commitId } = request
      asked.push(digest)
      const unchanged = digest === 'd1'
      if (commitId === 'c3') return
      yield header(commitId === '' ? 'c1' : commitId === 'c1' ? 'c2' : 'c3', 1n, {
        digest: commitId === 'c2' ? 'd2' : 'd1',
        unchanged: unchanged && commitId === 'c1',
      })
      if (commitId !== 'c1') yield objectChunk('a', Buffer.from(commitId))
      yield trailer()
    }
    const batches: Batch[] = []
    const ending = new AbortController()
    const stream = client()
    const following = stream.follow(wanted, { onBatch: (batch) => void batches.push(batch), signal: ending.signal })
    await eventually(() => batches.length === 3)
    ending.abort()
    await following
    stream.close()
    equal(
      batches.map(({ commitId }) => commitId),
      ['c1', 'c2', 'c3'],
    )
    ok(batches[1]?.files === batches[0]?.files)
    equal(asked.slice(0, 3), ['', 'd1', 'd1'])
    is(String(batches[2]?.files[0]?.data), 'c2')
  })

  it('goes on from the batch before with what has changed', async () => {
    handler = async function* ({ commitId, changes }) {
      if (commitId === 'c2') return
      yield header(commitId === '' ? 'c1' : 'c2', 1n, { digest: 'd', unchanged: false, changes: changes && commitId === 'c1' })
      if (commitId === '') yield* [objectChunk('a', Buffer.from('1')), objectChunk('b', Buffer.from('1'))]
      else yield* [removedObject('a'), objectChunk('c', Buffer.from('2'))]
      yield trailer()
    }
    const batches: Batch[] = []
    const ending = new AbortController()
    const stream = client()
    const following = stream.follow(wanted, { onBatch: (batch) => void batches.push(batch), signal: ending.signal })
    await eventually(() => batches.length === 2)
    ending.abort()
    await following
    stream.close()
    equal(
      batches.map(({ files }) => files.map(({ source }) => source)),
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
    )
    is(batches[1]?.files[0], batches[0]?.files[1])
  })

  for (const word of ['unchanged', 'changes'] as const)
    it(`does not believe in ${word} of what it does not have`, async () => {
      handler = async function* ({ digest }) {
        yield header('c1', 1n, { digest: `${digest}?`, unchanged: false, [word]: true })
        yield trailer()
      }
      const failures: string[] = []
      const ending = new AbortController()
      const stream = client()
      const following = stream.follow(wanted, {
        onBatch: () => void failures.push('a batch'),
        onFailure: ({ message }) => {
          failures.push(message)
          ending.abort()
        },
        signal: ending.signal,
      })
      await following
      stream.close()
      equal(failures, ['the object stream says that files are unchanged which it was not asked about'])
    })

  it('tells the server when the caller hangs up', async () => {
    const [called, hungUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    handler = async function* (_request, call) {
      call.signal.addEventListener('abort', () => hungUp.resolve(), { once: true })
      yield header('c', 1n)
      called.resolve()
      await hungUp.promise
    }
    const ending = new AbortController()
    const stream = client()
    const answer = stream.fetchObjects(wanted, ending.signal).catch(() => undefined)
    await called.promise
    ending.abort()
    is(await answer, undefined)
    await hungUp.promise
    stream.close()
  })

  it('makes no call for a caller that has given up already', async () => {
    const stream = client()
    is(await stream.fetchObjects(wanted, AbortSignal.abort()), undefined)
    stream.close()
  })

  it('writes no faster than the caller reads', async () => {
    let produced = 0
    handler = async function* () {
      yield header('c', 1n)
      for (; produced < 500; produced++) yield objectChunk('a', new Uint8Array(128 * 1024))
      yield trailer()
    }
    const slow = new Client(server.address, credentials.createInsecure())
    const path = '/gitlab.agent.gitops.rpc.Gitops/GetObjectsToSynchronize'
    const call = slow.makeServerStreamRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      Buffer.alloc(0),
      new Metadata(),
    )
    call.on('error', () => undefined)
    call.pause()
    await eventually(() => produced > 0)
    const before = produced
    ok(before < 500, `${before} of 500 chunks were produced for a caller that reads none`)
    call.cancel()
    slow.close()
  })

  it('understands requests that are compressed', async () => {
    let asked = ''
    handler = answered((request) => {
      asked = request.projectId
    })
    const gzip = new Client(server.address, credentials.createInsecure(), {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    })
    const path = '/gitlab.agent.gitops.rpc.Gitops/GetObjectsToSynchronize'
    const asking = Buffer.from(
      toBinary(ObjectsToSynchronizeRequestSchema, requestFor({ ...wanted, projectId: 'x'.repeat(1000), commitId: '' })),
    )
    const call = gzip.makeServerStreamRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      asking,
      new Metadata(),
    )
    for await (const _ of call) ok(false, 'nothing is sent')
    gzip.close()
    is(asked.length, 1000)
  })

  it('refuses addresses that are none', () => {
    for (const bad of ['', 'http://host:1', 'host/path']) {
      try {
        client(bad)
      } catch (thrown) {
        ok(isFailure(thrown, 'invalid'), bad)
        continue
      }
      ok(false, `${bad} was accepted`)
    }
  })

  it('says which address it cannot listen on', async () => {
    const taken = serveGrpc({
      address: server.address,
      services: [],
      clock: systemClock,
      log: createLog('silent', { write: () => undefined }),
    })
    const failure = await taken.then(
      () => undefined,
      (thrown) => thrown,
    )
    ok(isFailure(failure, 'unavailable'))
    match(failure.message, server.address)
  })

  it('ends open calls when it stops', async () => {
    let isOpen = false
    handler = async function* (_request, call) {
      isOpen = true
      yield header('c', 1n)
      await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve(), { once: true }))
    }
    const other = await serveGrpc({
      address: '127.0.0.1:0',
      services: [offer(Gitops, { getObjectsToSynchronize: (request, call) => handler(request, call) })],
      clock: systemClock,
      log: createLog('silent', { write: () => undefined }),
    })
    const stream = client(other.address)
    const failing = failureOf(() => stream.fetchObjects(wanted, never))
    await eventually(() => isOpen)
    await other.stop()
    // The call itself ended as calls do, in the middle of a batch: it was not cut off.
    is((await failing).message, 'the object stream ended before its trailer; the batch is dropped')
    stream.close()
  })

  it('tells nobody that a connection ended, as long as there is another one soon', async () => {
    const log = createLog('silent', { write: () => undefined })
    let asked = 0
    handler = async function* (_request, call) {
      asked++
      yield header('c', 1n)
      await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve(), { once: true }))
    }
    const services = [offer(Gitops, { getObjectsToSynchronize: (request, call) => handler(request, call) })]
    const serve = (on: string) => serveGrpc({ address: on, services, clock: systemClock, log })
    const first = await serve('127.0.0.1:0')
    const { address } = first
    const stream = client(address)
    const failures: Failure[] = []
    const ending = new AbortController()
    const following = stream.follow(wanted, {
      onBatch: () => undefined,
      onFailure: (failure) => failures.push(failure),
      signal: ending.signal,
    })
    await eventually(() => asked === 1)
    await first.stop()
    const second = await serve(address)
    await eventually(() => asked === 2)
    equal(failures, [])
    await second.stop()
    const [told] = await eventually(() => failures.length > 0 && failures)
    is(told?.code, 'unavailable')
    ending.abort()
    await following
    stream.close()
  })
})
