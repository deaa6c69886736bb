/**
 * A Git server for a pod of Berth's image, which has git and Node and no `git http-backend`: smart HTTP over TLS, with one user
 * (gitprotocol-http(5)). FOLDER has the bare repositories, TLS the files tls.crt and tls.key, CREDENTIAL is as in `user:password`.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'

const { FOLDER = '', TLS = '', CREDENTIAL = '' } = process.env
const wanted = `Basic ${Buffer.from(CREDENTIAL).toString('base64')}`

const server = createServer(
  { cert: readFileSync(join(TLS, 'tls.crt')), key: readFileSync(join(TLS, 'tls.key')) },
  (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost')
    const [, repository = '', verb = ''] =
      /^\/([a-z-]+\.git)\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(pathname) ?? []
    const service = verb === 'info/refs' ? (searchParams.get('service') ?? '') : verb
    if (request.headers.authorization !== wanted)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    if (!['git-upload-pack', 'git-receive-pack'].includes(service)) return void response.writeHead(404).end()
    const isListing = verb === 'info/refs'
    const words = [
      service.slice('git-'.length),
      '--stateless-rpc',
      ...(isListing ? ['--http-backend-info-refs'] : []),
      join(FOLDER, repository),
    ]
    const git = spawn('git', words, { env: { ...process.env, GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') } })
    response.writeHead(200, { 'content-type': `application/x-${service}-${isListing ? 'advertisement' : 'result'}` })
    if (isListing) {
      const line = `# service=${service}\n`
      response.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
      git.stdin.end()
    } else {
      const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
      body.pipe(git.stdin)
    }
    git.stdout.pipe(response)
    git.stderr.pipe(process.stderr)
  },
)
server.listen(8443)
