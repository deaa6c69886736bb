import { create } from '@bufbuild/protobuf'
import { equal, is } from 'uvu/assert'
import { type Door, dial, offer } from '../../../src/adapters/grpc/index.ts'
import { AgentRegistrar, AgentReports, RegisterResponseSchema } from '../../../src/rpc/index.ts'
import { Failure, Secret, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type EchoServer, echoServer } from './echo.ts'
import { beginCall } from './half-call.ts'

const stranger = () =>
  new Failure('unauthorized', 'the token is not known', { reason: 'TokenUnknown', remedy: 'Show a good one.' })
const DOORS: [kind: string, door: Door][] = [
  [
    'at once',
    (call) => {
      if (call.metadata('authorization') !== 'Bearer good') throw stranger()
    },
  ],
  [
    'when it has asked',
    async (call) => {
      await Promise.resolve()
      if (call.metadata('authorization') !== 'Bearer good') throw stranger()
    },
  ],
]

describe('the door before calls', (it) => {
  const closing: (() => unknown)[] = []
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  /** A server with a door before two methods, of which one has no handler. */
  async function fixture(door: Door) {
    const clock = steppedClock()
    const ended: string[] = []
    let handled = 0
    const registrar = offer(
      AgentRegistrar,
      {
        async register() {
          handled++
          return create(RegisterResponseSchema)
        },
      },
      door,
    )
    const server: EchoServer = await echoServer({
      services: [registrar, offer(AgentReports, {}, door)],
      onCall: () => (code) => ended.push(code),
      clock,
    })
    closing.push(() => server.stop(0))
    return { server, clock, ended, handled: () => handled }
  }

  const begin = (...of: Parameters<typeof beginCall>) => {
    const call = beginCall(...of)
    closing.push(call.close)
    return call
  }

  for (const [kind, door] of DOORS) {
    it(`is closed to strangers before they have said anything, ${kind}`, async () => {
      const { server, ended, handled } = await fixture(door)
      for (const path of [registerPath, reportPath]) {
        const { stream, status } = begin(server.address, path, 'bad')
        await eventually(() => stream.closed)
        equal([status, stream.rstCode], [['16'], 0])
      }
      equal([ended, handled()], [['UNAUTHENTICATED', 'UNAUTHENTICATED'], 0])
    })

    it(`says why, and lets in who may, ${kind}`, async () => {
      const { server, handled } = await fixture(door)
      const ask = (token: string) => {
        const connection = dial({ address: server.address, token: async () => new Secret(token) })
        closing.push(() => connection.close())
        return connection.unary(AgentRegistrar.method.register, create(AgentRegistrar.method.register.input))
      }
      const failure = await failureOf(() => ask('bad'))
      equal([failure.code, failure.reason, failure.remedy], ['unauthorized', 'TokenUnknown', 'Show a good one.'])
      await ask('good')
      is(handled(), 1)
    })
  }

  it('does not wait longer than 20 s for the message of who was let in', async () => {
    const { server, clock, ended } = await fixture(() => undefined)
    const { stream, status } = begin(server.address, reportPath, 'good')
    await eventually(() => clock.waiting() === 2)
    await clock.step(seconds(19))
    is(stream.closed, false)
    await clock.step(seconds(1))
    await eventually(() => stream.closed)
    equal([status, ended], [['4'], ['DEADLINE_EXCEEDED']])
  })
})

const registerPath = `/${AgentRegistrar.typeName}/${AgentRegistrar.method.register.name}`
const reportPath = `/${AgentReports.typeName}/${AgentReports.method.report.name}`
