/** Passes connections on: `relay.ts LISTEN TARGET`, each `host:port` or the path of a Unix socket. */
import { connect, createServer } from 'node:net'

const [listen = '', target = ''] = process.argv.slice(2)

const placeOf = (place: string) => {
  if (place.startsWith('/')) return { path: place }
  const [host, port] = place.split(':')
  return { host, port: Number(port) }
}

const server = createServer((client) => {
  const upstream = connect(placeOf(target))
  client.pipe(upstream).pipe(client)
  // Who loses one end loses the other.
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const)
    one.on('error', () => undefined).on('close', () => other.destroy())
})
server.listen(placeOf(listen), () => console.log('listening'))
process.stdin
  .on('end', () => {
    server.close() // A Unix socket goes with that.
    process.exit()
  })
  .resume()
