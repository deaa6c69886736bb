import { connect } from 'node:http2'

/** A call of somebody who says how long its message is, and sends less of it. */
export function beginCall(address: string, path: string, token: string) {
  const session = connect(`http://${address}`)
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  })
  const status: string[] = []
  session.on('error', () => undefined)
  stream.on('error', () => undefined)
  stream.on('response', (headers) => status.push(`${headers['grpc-status']}`))
  stream.resume()
  stream.write(Buffer.concat([Buffer.from([0, 0, 0x40, 0, 0]), Buffer.alloc(2 ** 16)]))
  return { stream, status, close: () => session.destroy() }
}
