import { spawn } from 'node:child_process'
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Failure } from '../../std/index.ts'
import { authorizationOf, type GitCredential } from './remote.ts'

export interface ServeGitOptions {
  /** Bare repositories are the folders in it; each is served under its name. */
  folder: string
  /** The address to listen on; 127.0.0.1 without it. */
  host?: string
  /** 0 (the default) lets the kernel choose. */
  port?: number
  /** Asked of everybody who reads or pushes, as basic authentication. */
  credential?: GitCredential
  /** The environment of git: a PATH on which it is found. */
  environment: Readonly<Record<string, string>>
  /** Told of each request before it is answered. */
  onRequest?: (request: { method: string; path: string; bytes: () => number }) => void
}

export interface GitServer {
  /** `http://127.0.0.1:port`: the repository `shop.git` is at `<url>/shop.git`. */
  readonly url: string
  stop(): Promise<void>
}

/** Git over smart HTTP, by git's own `http-backend`: for the tour and for tests, not for the world. From other machines it can only be read. */
export async function serveGit(options: ServeGitOptions): Promise<GitServer> {
  const { host = '127.0.0.1', port = 0 } = options
  const server = createServer((request, response) => {
    void answer(options, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(notListening(error, { host, port })))
    server.listen(port, host, resolve)
  })
  const bound = server.address()
  return {
    url: `http://${host}:${typeof bound === 'object' && bound ? bound.port : port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function notListening(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Failure {
  if (error.code !== 'EADDRINUSE') return Failure.from(error, 'git server')
  return new Failure('conflict', `port ${port} of ${host} is taken by another program`, {
    remedy: 'Name another one with --port; 0 lets the kernel choose.',
    cause: error,
  })
}

async function answer(options: ServeGitOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let bytes = 0
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  options.onRequest?.({ method: request.method ?? 'GET', path: pathname, bytes: () => bytes })
  if (!isAdmitted(options.credential, request.headers.authorization)) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    return
  }
  const backend = spawn('git', ['http-backend'], { env: cgi(options, request), stdio: ['pipe', 'pipe', 'ignore'] })
  // A client that hangs up must not leave a backend behind.
  response.once('close', () => backend.kill())
  const sent = pipeline(request, backend.stdin).catch(() => undefined)
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of backend.stdout) {
    bytes += chunk.length
    head = head ? relay(Buffer.concat([head, chunk]), response) : void response.write(chunk)
  }
  response.end()
  await sent
}

/** Until the blank line: what has come so far. After it: nothing, and the answer has begun. */
function relay(sofar: Buffer, response: ServerResponse): Buffer | undefined {
  const end = sofar.indexOf('\r\n\r\n')
  if (end < 0) return sofar
  let status = 200
  for (const line of sofar.toString('latin1', 0, end).split('\r\n')) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()]
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.writeHead(status)
  response.write(sofar.subarray(end + 4))
  return undefined
}

/** RFC 3875: the request as an environment. */
function cgi({ folder, environment, credential }: ServeGitOptions, request: IncomingMessage): Record<string, string> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const header = (name: string): string => [request.headers[name] ?? ''].flat()[0] ?? ''
  return {
    ...environment,
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: folder,
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: header('git-protocol'),
    PATH_INFO: decodeURIComponent(url.pathname),
    QUERY_STRING: url.search.slice(1),
    REQUEST_METHOD: request.method ?? 'GET',
    CONTENT_TYPE: header('content-type'),
    CONTENT_LENGTH: header('content-length'),
    HTTP_CONTENT_ENCODING: header('content-encoding'),
    // Whoever is on this machine may push, or has the credential; others read (git-http-backend(1): without a name nobody pushes).
    ...(isLocal(request) || credential ? { REMOTE_USER: 'berth' } : {}),
    REMOTE_ADDR: request.socket.remoteAddress ?? '',
  }
}

const isLocal = ({ socket }: IncomingMessage): boolean => socket.remoteAddress?.startsWith('127.') ?? false

function isAdmitted(credential: GitCredential | undefined, authorization = ''): boolean {
  if (!credential) return true
  const [wanted, given] = [Buffer.from(authorizationOf(credential)), Buffer.from(authorization)]
  return wanted.length === given.length && timingSafeEqual(wanted, given)
}
