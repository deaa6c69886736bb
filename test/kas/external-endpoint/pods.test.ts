import { equal, is, match, not } from 'uvu/assert'
import type { TunnelHandler } from '../../../src/engines/tunnel/index.ts'
import { listPods } from '../../../src/kas/external-endpoint/pods.ts'
import { encodeResponse, pieces, type RequestHead, requestFrames } from '../../../src/rpc/index.ts'
import { seconds } from '../../../src/std/index.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { connectAgent, type Kas, openKas, secretFile } from '../routing/kas-stage.ts'

interface Page {
  status?: number
  body: string
}

/** An agent whose cluster answers so. */
const cluster = (seen: RequestHead[], answer: (head: RequestHead) => Page): TunnelHandler =>
  async function* (requests) {
    let head: RequestHead | undefined
    for await (const frame of requestFrames(requests)) if (frame.kind === 'head') head = frame.head
    if (!head) return
    seen.push(head)
    const { status = 200, body } = answer(head)
    yield encodeResponse({ kind: 'head', head: { status, reason: '', headers: {} } })
    for (const data of pieces(Buffer.from(body))) yield encodeResponse({ kind: 'data', data })
    yield encodeResponse({ kind: 'trailer' })
  }

const pod = (namespace: string, name: string) => ({ metadata: { namespace, name } })
const list = (items: unknown[], next?: string) => JSON.stringify({ metadata: next ? { continue: next } : {}, items })

describe('pods of an agent', (it) => {
  let secret: Awaited<ReturnType<typeof secretFile>>
  let kas: Kas
  let id = 0n
  const leave: (() => Promise<void>)[] = []
  it.before(async () => {
    secret = await secretFile()
    kas = await openKas(secret.file, { wait: seconds(20) })
  })
  it.afterEach(async () => {
    for (const one of leave.splice(0)) await one()
  })
  it.after(async () => {
    await kas.kill()
    await secret.remove()
  })

  const given = (answer: (head: RequestHead) => Page) => {
    const seen: RequestHead[] = []
    id += 1n
    leave.push(connectAgent(kas, id, cluster(seen, answer)))
    const ask = (signal = new AbortController().signal) =>
      listPods({ router: kas.router, agentId: id, patience: seconds(20), signal })
    return { seen, ask }
  }

  it('are asked for page by page, by their names only, as nobody but the agent', async () => {
    const { seen, ask } = given(({ query }) => {
      const [at = '0'] = query.continue ?? []
      const page = Number(at)
      return { body: list([pod('a', `one-${page}`), pod('b', `two-${page}`)], page < 4 ? String(page + 1) : undefined) }
    })
    const pods = await ask()
    is(pods.length, 10)
    equal(pods.slice(-2), [
      { namespace: 'a', name: 'one-4' },
      { namespace: 'b', name: 'two-4' },
    ])
    equal(
      seen.map(({ query }) => [query.limit?.[0], query.continue?.[0]]),
      [undefined, '1', '2', '3', '4'].map((next) => ['500', next]),
    )
    const [head] = seen
    equal([head?.method, head?.path, head?.impersonation], ['GET', '/api/v1/pods', undefined])
    match(head?.headers.Accept?.[0] ?? '', 'PartialObjectMetadataList')
  })

  it('wait for an agent that connects later', async () => {
    id += 1n
    const asked = listPods({ router: kas.router, agentId: id, patience: seconds(20), signal: new AbortController().signal })
    leave.push(
      connectAgent(
        kas,
        id,
        cluster([], () => ({ body: list([pod('a', 'late')]) })),
      ),
    )
    equal(await asked, [{ namespace: 'a', name: 'late' }])
  })

  it('are forbidden where the agent may not list them, which says what to do', async () => {
    for (const status of [401, 403]) {
      const failure = await failureOf(given(() => ({ status, body: 'canary-of-the-cluster' })).ask)
      equal([failure.code, failure.reason], ['forbidden', 'AgentForbidden'])
      match(failure.remedy ?? '', 'service account')
      not.match(failure.message, 'canary')
    }
    is((await failureOf(given(() => ({ status: 500, body: '' })).ask)).reason, 'ClusterFailed')
  })

  const BROKEN: [why: string, body: string][] = [
    ['no JSON', 'canary-of-the-cluster'],
    ['no list', '7'],
    ['no list', '{"items":{}}'],
    ['a pod without a name', list([{}])],
    ['a pod without a name', list([pod('a', '\u001b[2J')])],
    ['a pod without a name', list([pod('a', 'x'.repeat(254))])],
    ['an empty page that is not the last', list([], 'again')],
    ['a page of more than 16 MiB', ' '.repeat(16 * 2 ** 20 + 1)],
  ]
  it('are refused when the agent sends anything else', async () => {
    for (const [why, body] of BROKEN) {
      const failure = await failureOf(given(() => ({ body })).ask)
      equal([failure.code, failure.reason], ['unavailable', 'AnswerBroken'], why)
      match(failure.message, why)
      not.match(failure.message, 'canary')
    }
  })

  it('end when there are more than one answer holds, however long the cluster goes on', async () => {
    const many = Array.from({ length: 500 }, (_, at) => pod('a'.repeat(63), `${'b'.repeat(240)}-${at}`))
    const { seen, ask } = given(() => ({ body: list(many, 'more') }))
    const failure = await failureOf(ask)
    equal([failure.code, failure.reason], ['too-large', 'TooManyPods'])
    is(seen.length, 27)
  })

  it('are let go of when nobody wants them any more', async () => {
    const gone = new AbortController()
    const heard = Promise.withResolvers<void>()
    id += 1n
    leave.push(
      connectAgent(kas, id, async function* (_, call) {
        const over = new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve(), { once: true }))
        yield encodeResponse({ kind: 'head', head: { status: 200, reason: '', headers: {} } })
        gone.abort()
        await over
        heard.resolve()
      }),
    )
    const failure = await failureOf(() =>
      listPods({ router: kas.router, agentId: id, patience: seconds(20), signal: gone.signal }),
    )
    is(failure.code, 'cancelled')
    await heard.promise
  })
})
