import { equal, is } from 'uvu/assert'
import { createObjectStream, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { createObjectStreamService } from '../../../src/kas/object-stream/index.ts'
import type { Admission, CommitSnapshot, Polls } from '../../../src/kas/ports/ports.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { Secret, silentLog, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { defaultLimits } from './default-limits.ts'

describe('kas: a stream at the end', (it) => {
  it('brings the batch to its end that was begun when kas begins to stop', async () => {
    const reading = Promise.withResolvers<void>()
    const stopping = Promise.withResolvers<void>()
    const files = ['a.yaml', 'b.yaml'].map((path) => ({ path, blob: path, size: 3 * 2 ** 20 }))
    const snapshot: CommitSnapshot = {
      commit: 'c'.repeat(40),
      refName: 'refs/heads/main',
      isFetched: true,
      earlier: undefined,
      tree: async () => treeOf(files),
      line: async () => undefined,
      // The files are read one after the other; kas is told to stop while the first is being sent.
      async read(portion) {
        if (portion[0]?.path === 'b.yaml') {
          reading.resolve()
          await stopping.promise
        }
        return portion.map(() => Buffer.from('a: 1'))
      },
    }
    const project = projectFrom({
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'shop', namespace: 'team-a', uid: 'uid' },
      spec: { url: 'https://git.example.com/shop.git', path: 'team-a/shop' },
    })
    const admission: Admission = {
      caller: { kind: 'agent', namespace: 'team-a', name: 'dev' },
      project,
      renew: async () => undefined,
      ended: new AbortController().signal,
      close: () => undefined,
    }
    const polls: Pick<Polls, 'follow'> = {
      follow: () => ({ next: async () => ({ snapshot }), close: () => undefined }),
    }
    const service = createObjectStreamService({
      door: () => undefined,
      gate: { admit: async () => admission, admitAgent: () => admission },
      polls,
      limits: defaultLimits,
      maxAge: 60_000,
      delivered: { add: () => undefined },
      unchanged: { add: () => undefined },
      refused: () => undefined,
      onServed: () => undefined,
      clock: systemClock,
    })
    const server = await serveGrpc({ address: '127.0.0.1:0', services: [service], clock: systemClock, log: silentLog })
    const stream = createObjectStream({ address: server.address, token: async () => new Secret('t'), clock: systemClock })
    const wanted = { projectId: 'team-a/shop', ref: { kind: 'default' as const }, globs: ['**'] }
    const batch = stream.fetchObjects(wanted, new AbortController().signal)
    await reading.promise
    server.leave()
    stopping.resolve()
    equal(
      (await batch)?.files.map(({ source }) => source),
      ['a.yaml', 'b.yaml'],
    )
    is((await batch)?.commitId, snapshot.commit)
    stream.close()
    await server.stop(0)
  })
})
