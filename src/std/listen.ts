import { isIPv6, type Server } from 'node:net'
import { Failure } from './failure.ts'

/** Listens at `host:port` and gives the address with the port that it has become: port 0 lets the kernel choose. */
export async function listenAt(server: Server, address: string): Promise<string> {
  const host = address.slice(0, address.lastIndexOf(':'))
  return `${host}:${await listen(server, host.replace(/^\[(.*)\]$/, '$1'), Number(address.slice(host.length + 1)))}`
}

/** Gives the port. */
export const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
    server.once('error', (error) =>
      reject(new Failure('unavailable', `cannot listen on ${address}: ${error.message}`, { cause: error })),
    )
    server.listen({ host, port }, () => {
      const bound = server.address()
      resolve(typeof bound === 'object' && bound ? bound.port : port)
    })
  })
