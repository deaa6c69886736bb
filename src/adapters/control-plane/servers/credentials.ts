import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Failure, hours, recordIn, type Secret } from '../../../std/index.ts'
import type { Layout } from './layout.ts'

const PRIVATE = { mode: 0o600 }

/** Milliseconds that a local installation may run at a stretch: so long its credentials are good, which each start makes anew. */
export const MOST_UPTIME = hours(24 * 365)

/** Keys and the administrator's token, made once for a folder. The API server makes its own certificate. */
export function ensureCredentials(layout: Layout): void {
  mkdirSync(layout.certificates, { recursive: true })
  if (!existsSync(layout.serviceAccountKey)) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    writeFileSync(layout.serviceAccountPublicKey, publicKey)
    writeFileSync(layout.serviceAccountKey, privateKey, PRIVATE)
  }
  if (!existsSync(layout.tokens)) writeFileSync(layout.tokens, tokenOf('berth-admin', 'system:masters'), PRIVATE)
}

const tokenOf = (user: string, group: string): string => `${randomBytes(24).toString('hex')},${user},${user},${group}\n`

const BEGIN = '-----BEGIN CERTIFICATE-----'

/** The authority is the second certificate in the file of the self-made serving certificate. */
export function readAuthority(layout: Layout): string | undefined {
  if (!existsSync(layout.certificate)) return undefined
  const [, , second] = readFileSync(layout.certificate, 'utf8').split(BEGIN)
  return second && `${BEGIN}${second}`
}

export function adminToken(layout: Layout): string {
  const token = readFileSync(layout.tokens, 'utf8').split(',')[0]
  if (!token) throw new Failure('internal', `${layout.tokens} holds no token`)
  return token
}

/** The token of a node's kubelet, made when it is asked for first. The Node authorizer knows who it is by its name. */
export function kubeletToken({ tokens }: Layout, node: string): string {
  const user = `system:node:${node}`
  const known = readFileSync(tokens, 'utf8')
    .split('\n')
    .map((line) => line.split(','))
  const found = known.find(([, name]) => name === user)?.[0]
  if (found) return found
  const added = tokenOf(user, 'system:nodes')
  appendFileSync(tokens, added)
  return added.split(',')[0] ?? ''
}

const NAME = 'berth'
const usersWith = (token: string) => [{ name: NAME, user: { token } }]

/** JSON is YAML too; every client reads it. */
export function kubeconfigFor(server: string, authority: string, token: string): string {
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [{ name: NAME, cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } }],
    users: usersWith(token),
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace: 'default' } }],
  }
  return `${JSON.stringify(kubeconfig, null, 2)}\n`
}

export const writeKubeconfig = (layout: Layout, server: string, authority: string): void =>
  writeFileSync(layout.kubeconfig, kubeconfigFor(server, authority, adminToken(layout)), PRIVATE)

/** The text of that kubeconfig with the token of another. */
export const kubeconfigWith = (written: string, token: Secret<string>): string =>
  JSON.stringify({ ...recordIn(written), users: usersWith(token.reveal()) })
