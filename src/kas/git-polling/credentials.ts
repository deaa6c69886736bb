import type { GitAccess, GitCredential, SshKey } from '../../adapters/git/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import { type CoreSecret, dataOf, keyOf, type Ref, textIn } from '../../api/index.ts'
import { Failure, isRecord, recordIn, Secret, withoutEnd } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'
import { readSecret } from '../tokens/read-secret.ts'

const LOGIN = ['username', 'password', 'token']

/** Reads Secrets one by one and keeps none: a changed or deleted one counts at the next poll, and kas needs no right to list them. */
export const createCredentials = (kube: Kube): Credentials => ({
  async forGit(project) {
    const { credentials } = project
    return credentials ? accessIn(await read(kube, project, credentials, 'credentialsSecretRef'), project) : {}
  },
  async versionOf({ credentials }) {
    // That it cannot be read is told by the next look, with words for it.
    const secret = credentials && (await readSecret(kube, credentials).catch(() => undefined))
    return secret && versionIn(secret)
  },
  async forWebhooks(project) {
    const ref = project.webhookSecret
    if (!ref)
      throw failure(project, 'WebhookSecretMissing', 'it has no webhook secret', 'Name a Secret in spec.webhookSecretRef.')
    const secret = textOf(await read(kube, project, ref, 'webhookSecretRef'), 'secret')
    if (!secret)
      throw invalid(project, `Secret ${keyOf(ref)} has no key secret`, 'Put the secret of the webhook under the key secret.')
    return secret
  },
  async forCommits(project) {
    const ref = project.verify?.keys
    if (!ref) throw failure(project, 'SecretNotFound', 'it has no keys for commits', 'Name a Secret in spec.verify.secretRef.')
    const secret = await read(kube, project, ref, 'verify.secretRef')
    const files = new Map(Object.keys(dataOf(secret)).map((name) => [name, textIn(secret, name) ?? '']))
    return { files, version: versionIn(secret), secret: keyOf(ref) }
  },
})

const versionIn = ({ metadata }: CoreSecret): string => `${metadata.uid}/${metadata.resourceVersion}`

async function read(kube: Kube, project: Project, ref: Ref, field: string): Promise<CoreSecret> {
  const secret = await readSecret(kube, ref)
  if (!secret)
    throw failure(project, 'SecretNotFound', `Secret ${keyOf(ref)} does not exist`, `Create it, or correct spec.${field}.`)
  return secret
}

/** The keys are those of kubernetes.io/basic-auth and kubernetes.io/ssh-auth, and as Flux has them. */
function accessIn(secret: CoreSecret, project: Project): GitAccess {
  if (project.url.startsWith('ssh:')) return { ssh: sshKey(secret, project) }
  const authorities = textOf(secret, 'ca.crt')
  const pulls = textOf(secret, PULL_SECRET)
  if (pulls !== undefined) return { authorities, credential: pullCredential(pulls, secret, project) }
  const isAlone = authorities !== undefined && LOGIN.every((key) => textOf(secret, key) === undefined)
  return { authorities, credential: isAlone ? undefined : gitCredential(secret, project) }
}

function sshKey(secret: CoreSecret, project: Project): SshKey {
  const privateKey = textOf(secret, 'ssh-privatekey')
  const knownHosts = textOf(secret, 'known_hosts')
  if (privateKey && knownHosts) return { privateKey: new Secret(privateKey), knownHosts }
  const message = `Secret ${keyOf(secret.metadata)} lacks ${privateKey ? 'known_hosts' : 'ssh-privatekey'}`
  const remedy = 'Put a private key under ssh-privatekey, and lines of ssh-keyscan that you have compared under known_hosts.'
  throw invalid(project, message, remedy)
}

const PULL_SECRET = '.dockerconfigjson'

/** Whom the registry takes the pods' pulls for. https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/ */
function pullCredential(text: string, secret: CoreSecret, project: Project): GitCredential {
  const { auths } = recordIn(text) ?? {}
  const [host, place] = [hostOf(project.url), placeOf(project.url)]
  const isFor = (name: string) => hostOf(name) === host && (isBare(name) || `${place}/`.startsWith(`${placeOf(name)}/`))
  const rank = (name: string) => (isBare(name) ? 0 : name.length)
  // The one that is for the most of the path.
  const [best] = Object.entries(isRecord(auths) ? auths : {})
    .filter(([name]) => isFor(name))
    .sort(([one], [other]) => rank(other) - rank(one))
  const named = best?.[1]
  const { auth, username, password } = isRecord(named) ? named : {}
  const [first = '', ...rest] = typeof auth === 'string' ? Buffer.from(auth, 'base64').toString('utf8').split(':') : []
  if (rest.length > 0) return { username: first, password: new Secret(rest.join(':')) }
  if (typeof username === 'string' && typeof password === 'string') return { username, password: new Secret(password) }
  const message = `Secret ${keyOf(secret.metadata)} has no credentials for ${host} in ${PULL_SECRET}`
  throw invalid(project, message, 'Make it with `kubectl create secret docker-registry --docker-server` for that host.')
}

const placeOf = (url: string): string => withoutEnd(url.replace(/^[a-z]+:\/\//, ''), '/')

/** For all of a host; `https://host/v1/` is an old way to write that. */
const isBare = (url: string): boolean => /^[^/]*(?:\/v[12])?$/.test(placeOf(url))

/** Docker's own registry has several names. */
const hostOf = (url: string): string => {
  const host = (placeOf(url).split('/')[0] ?? '').toLowerCase()
  return host.replace(/^(?:index\.|registry-1\.)?docker\.io$/, 'docker.io')
}

function gitCredential(secret: CoreSecret, project: Project): GitCredential {
  const username = textOf(secret, 'username')
  const password = textOf(secret, 'password') ?? textOf(secret, 'token')
  if (password === undefined) {
    const message = `Secret ${keyOf(secret.metadata)} has neither username and password nor token`
    throw invalid(project, message, 'Put the credentials under username and password, or a token under token.')
  }
  if (/[\0\r\n]/.test(`${username ?? ''}${password}`)) {
    const message = `Secret ${keyOf(secret.metadata)} has a line break in its credentials`
    throw invalid(project, message, 'Write them without one.')
  }
  return { ...(username === undefined ? {} : { username }), password: new Secret(password) }
}

/** One trailing newline is an editor's, not the user's. */
const textOf = (secret: CoreSecret, key: string): string | undefined => textIn(secret, key)?.replace(/\r?\n$/, '')

const failure = ({ ref }: Project, reason: string, message: string, remedy: string) =>
  new Failure('invalid', message, { object: `GitProject ${keyOf(ref)}`, reason, remedy })

const invalid = (project: Project, message: string, remedy: string) => failure(project, 'SecretInvalid', message, remedy)
