import { request as httpRequest, type IncomingMessage, type RequestOptions, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type Clock, Failure, seconds } from '../../std/index.ts'
import { type ForwardedRequest, failureOf, textOf } from './forward.ts'
import type { WebUpgrade } from './web.ts'

/** A request like others, but that `connection` and `upgrade` are among its headers. */
interface ForwardedUpgrade extends Omit<ForwardedRequest, 'request' | 'response'> {
  readonly upgrade: WebUpgrade
}

/** A connection that two sides have to themselves. */
export interface UpgradedConnection {
  /** Bytes that the visitor has sent since the upgrade. */
  readonly received: () => number
  readonly closed: Promise<void>
}

const ANSWER_WITHIN = seconds(30)
const PROBE = seconds(30)

/**
 * Asks the server to go on with another protocol, and joins both connections, each at the pace of the other. `undefined`: it gave
 * another answer, which the visitor has got. Throws while nothing has been answered.
 */
export function passUpgrade(forwarded: ForwardedUpgrade, clock: Clock): Promise<UpgradedConnection | undefined> {
  const { upgrade, to, target, headers, answerHeaders } = forwarded
  const { request, line, first } = upgrade
  return new Promise((resolve, reject) => {
    const asked = httpRequest({
      host: to.host,
      port: to.port,
      // An agent would make the connection itself.
      ...(to.open ? { createConnection: through(to.open) } : { agent: false }),
      method: request.method,
      path: target,
      headers: [...headers],
      setDefaultHeaders: false,
      insecureHTTPParser: false,
    })
    const late = clock.after(ANSWER_WITHIN, () =>
      asked.destroy(new Failure('timeout', 'nothing answers on the port', { reason: 'TooLate' })),
    )
    const left = () => asked.destroy(new Failure('cancelled', 'the visitor has hung up'))
    const settle = () => {
      late()
      line.off('close', left)
    }
    line.once('close', left)
    asked.once('error', (error) => {
      settle()
      reject(failureOf(error))
    })
    asked.once('response', (answer) => {
      settle()
      refuse(answer, forwarded).then(() => resolve(undefined), reject)
    })
    asked.once('upgrade', (answer, far, begun) => {
      settle()
      try {
        if (line.destroyed) throw new Failure('cancelled', 'the visitor has hung up')
        const protocol = sameProtocol(answer.headers.upgrade, request.headers.upgrade)
        upgrade.accept(protocol, answerHeaders(answer.rawHeaders))
        resolve(join({ near: line, first }, { far, begun }))
      } catch (thrown) {
        far.destroy()
        if (line.destroyed) resolve(undefined)
        else reject(Failure.from(thrown))
      }
    })
    asked.end()
  })
}

const through =
  (open: () => Promise<Duplex>): NonNullable<RequestOptions['createConnection']> =>
  (_options, done) => {
    open().then(
      (line) => done(null, line),
      // Node takes an error alone, whatever its type says.
      (thrown: unknown) => done(Failure.from(thrown), new Duplex()),
    )
  }

function sameProtocol(one: string | undefined, other: string | undefined): string {
  if (one !== undefined && /^[\w/.-]+$/.test(one) && one.toLowerCase() === other?.toLowerCase()) return one
  throw new Failure('unavailable', 'it went on with something else', { reason: 'NoHttp' })
}

function join(
  { near, first }: { near: Duplex; first: Buffer },
  { far, begun }: { far: Duplex; begun: Buffer },
): UpgradedConnection {
  let received = first.length
  near.on('data', (bytes: Buffer) => {
    received += bytes.length
  })
  const closed = Promise.withResolvers<void>()
  const cut = () => {
    near.destroy()
    far.destroy()
  }
  for (const end of [near, far]) {
    end.on('error', cut)
    end.once('close', () => {
      cut()
      closed.resolve()
    })
    if (end instanceof Socket) {
      end.setTimeout(0)
      end.setNoDelay(true)
      // A side that is gone without a word is found out.
      end.setKeepAlive(true, PROBE)
    }
  }
  if (begun.length > 0) near.write(begun)
  if (first.length > 0) far.write(first)
  near.pipe(far)
  far.pipe(near)
  return {
    received: () => received,
    closed: closed.promise,
  }
}

/** An answer other than 101 is an answer like any other; the connection ends with it. */
function refuse(answer: IncomingMessage, { upgrade, answerHeaders }: ForwardedUpgrade): Promise<void> {
  const response = upgrade.refusal()
  const status = answer.statusCode ?? 502
  response.writeHead(status, textOf(status, answer.statusMessage), [...answerHeaders(answer.rawHeaders), 'Connection', 'close'])
  return new Promise((resolve) => {
    response.once('close', () => {
      answer.destroy()
      resolve()
    })
    answer.once('error', () => response.destroy())
    answer.on('data', (bytes: Buffer) => {
      if (response.write(bytes)) return
      answer.pause()
      response.once('drain', () => answer.resume())
    })
    answer.once('end', () => response.end())
  })
}

/** Of HTTP/1.1: Node hands over the bare connection. */
export const upgradeOn = (request: IncomingMessage, line: Duplex, first: Buffer): WebUpgrade => ({
  request,
  line,
  first,
  accept(protocol, headers) {
    const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
    line.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${lines.join('')}\r\n`,
      'latin1',
    )
  },
  refusal() {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(line as Socket) // as: what a server hands over is a socket, of TLS perhaps
    response.once('finish', () => line.end())
    return response
  },
})
