import { connect, createServer, type Socket } from 'node:net'
import { portOf } from './addresses.ts'

/** A Service: one address for several servers. New connections go to the first of `order` that takes them. */
export interface Balancer {
  /** `host:port` */
  address: string
  /** Addresses of the servers, the first choice first. Connections that are open stay where they are. */
  prefer(order: readonly string[]): void
  close(): Promise<void>
}

export async function balancer(): Promise<Balancer> {
  let order: readonly string[] = []
  const open = new Set<Socket>()
  const keep = (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    return socket
  }
  const pass = (client: Socket, [first, ...rest]: readonly string[]): void => {
    if (first === undefined) return void client.destroy()
    const [host, port] = first.split(':')
    const server = keep(connect(Number(port), host))
    const failed = () => pass(client, rest)
    server.once('error', failed)
    server.once('connect', () => {
      server.off('error', failed).on('error', () => undefined)
      server.once('close', () => client.destroy())
      client.once('close', () => server.destroy())
      client.pipe(server).pipe(client)
    })
  }
  const tcp = createServer((client) => {
    keep(client).on('error', () => undefined)
    pass(client, order)
  })
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${portOf(tcp)}`,
    prefer(given) {
      order = given
    },
    close() {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => void tcp.close(() => resolve()))
    },
  }
}
