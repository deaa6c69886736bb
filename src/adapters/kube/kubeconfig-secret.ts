import { KubeConfig } from '@kubernetes/client-node'
import { type Clock, Failure, isRecord, parseYaml, Secret, seconds, systemClock } from '../../std/index.ts'
import { createAnswers } from './answers.ts'
import { createKube } from './client.ts'
import { type Meter, openConnection, serverOf } from './connection.ts'
import type { Kube } from './kube.ts'
import { createConnectionGate, type Reach, type UrlSubject } from './reach.ts'

export interface TargetOptions {
  /** Take the cluster with this server (case does not matter) instead of the current context's. */
  server?: string | undefined
  insecureSkipTLSVerify?: boolean | undefined
  clock?: Clock
  /** Milliseconds until an answer must begin. */
  timeout?: number
  /** Longest answer to a request, bytes; the server is a stranger's. A list that is not taken in pages is one. */
  maxBytes?: number
  /**
   * Limits where it may lead, and says that it is a stranger's. Without it it may lead everywhere, and the server's words are shown: on a person's own machine.
   * It must be said, so that it can't be forgotten.
   */
  reach: Reach | undefined
  /** On whose behalf, by namespace: large answers to one tenant wait for one another. */
  tenant?: string | undefined
  /** Counts requests. */
  meter?: Meter | undefined
  /** Whose URL `server` is, when it is refused. */
  subject?: UrlSubject
}

const KUBECONFIG: UrlSubject = { field: "the kubeconfig's clusters[].cluster.server" }

/** More clusters, with their certificates, than a Secret that is read has room for. Nothing else is done while it is read. */
const LIMITS = { characters: 2 ** 20, tokens: 6000, expanded: 2 ** 18 }

const ANYWHERE: Reach = { refuseLocal: false }

/** A kubeconfig that somebody else wrote may not contain these: each would run, read or reach something on our side. */
const REFUSED_OF_USER = [
  'exec',
  'auth-provider',
  'tokenFile',
  'client-certificate',
  'client-key',
  'as',
  'as-groups',
  'as-uid',
  'as-user-extra',
]
const REFUSED_OF_CLUSTER = ['certificate-authority', 'proxy-url']

/**
 * A client from a kubeconfig that a tenant wrote. Only a server, a CA and a token are taken from it.
 * Errors are `invalid` with a reason: UnsupportedAPIURL, UnableToParseKubeconfigData, UnableToLocateContext, UnableToCreateClient.
 * A name that leads to a refused address is found out when it is connected to: then it is the requests that fail, with UnsupportedAPIURL.
 */
export function kubeFromSecret(kubeconfig: Secret<string>, options: TargetOptions): Kube {
  const { clock = systemClock, timeout = seconds(10), reach = ANYWHERE, tenant = '', subject = KUBECONFIG } = options
  const { answers = createAnswers(clock) } = reach
  const gate = createConnectionGate(reach, subject)
  if (options.server !== undefined && URL.canParse(options.server)) gate.judge(new URL(options.server))
  const { server, ca, token, insecure } = readTarget(kubeconfig, options)
  const config = new KubeConfig()
  config.loadFromClusterAndUser(
    { name: 'target', server, skipTLSVerify: insecure, ...(ca !== undefined && { caData: ca }) },
    { name: 'target', token: token.reveal() },
  )
  const openShare = () => answers.open(tenant, options.maxBytes)
  const isQuoted = options.reach === undefined || gate.isOwn(serverOf(config).url)
  return createKube(openConnection(config, { clock, timeout, openShare, isQuoted, connections: 8, gate, meter: options.meter }))
}

/** The parts of a tenant's kubeconfig that are used, after everything dangerous was refused. */
export function readTarget(kubeconfig: Secret<string>, { server: wanted, insecureSkipTLSVerify }: Partial<TargetOptions> = {}) {
  const config = parseKubeconfig(kubeconfig)
  const { cluster, user } = locate(config, wanted)
  for (const key of REFUSED_OF_USER) if (key in user) throw refused(`users[].user.${key}`)
  for (const key of REFUSED_OF_CLUSTER) if (key in cluster) throw refused(`clusters[].cluster.${key}`)
  const { token } = user
  if (typeof token !== 'string' || token === '') {
    throw broken(
      'UnableToCreateClient',
      "the kubeconfig's user has no token",
      'Put a service account token into users[].user.token.',
    )
  }
  const ca = cluster['certificate-authority-data']
  return {
    server: String(cluster.server),
    ca: typeof ca === 'string' ? ca : undefined,
    token: new Secret(token),
    insecure: insecureSkipTLSVerify ?? cluster['insecure-skip-tls-verify'] === true,
  }
}

/** An entry of `clusters`, `contexts` or `users`. */
interface NamedEntry {
  name: string
  value: Record<string, unknown>
}

function locate(config: Record<string, unknown>, wanted: string | undefined) {
  const clusters = entriesIn(config, 'cluster')
  const contexts = entriesIn(config, 'context')
  const current = config['current-context']
  const context = wanted === undefined ? contexts.find(({ name }) => name === current) : contextFor(clusters, contexts, wanted)
  if (!context) {
    const what =
      wanted === undefined
        ? `current-context "${typeof current === 'string' ? current : ''}" names no context`
        : `no context leads to a cluster whose server is ${wanted}`
    throw broken(
      'UnableToLocateContext',
      `the kubeconfig is not usable: ${what}`,
      'Add the context, or correct apiURL so that both are the same text.',
    )
  }
  const cluster = clusters.find(({ name }) => name === nameIn(context, 'cluster'))?.value
  const user = entriesIn(config, 'user').find(({ name }) => name === nameIn(context, 'user'))?.value
  if (!cluster || typeof cluster.server !== 'string')
    throw broken(
      'UnableToLocateContext',
      `the kubeconfig's context "${context.name}" names no cluster with a server`,
      'Add clusters[].cluster.server.',
    )
  if (!user)
    throw broken(
      'UnableToLocateContext',
      `the kubeconfig's context "${context.name}" names no user`,
      'Add the user that the context names.',
    )
  return { cluster, user }
}

const nameIn = ({ value }: NamedEntry, key: 'cluster' | 'user'): string => String(value[key] ?? '')

/** The last context that leads to the server wins, as upstream does. */
function contextFor(clusters: NamedEntry[], contexts: NamedEntry[], server: string) {
  const same = clusters.filter(({ value }) => String(value.server).toLowerCase() === server.toLowerCase()).map(({ name }) => name)
  return contexts.findLast((context) => same.includes(nameIn(context, 'cluster')))
}

function parseKubeconfig(kubeconfig: Secret<string>): Record<string, unknown> {
  const remedy = 'Store a kubeconfig as `kubectl config view --raw --minify` prints it under the key `kubeconfig`.'
  const { documents, problem } = parseYaml(kubeconfig.reveal(), LIMITS)
  if (problem)
    throw broken('UnableToParseKubeconfigData', `the kubeconfig is ${problem.isTooLarge ? 'too large' : 'not YAML'}`, remedy)
  const document = documents.length === 1 ? documents[0]?.value : undefined
  if (isRecord(document)) return document
  throw broken('UnableToParseKubeconfigData', 'the kubeconfig is not a mapping', remedy)
}

function entriesIn(config: Record<string, unknown>, key: 'cluster' | 'context' | 'user'): NamedEntry[] {
  const list = config[`${key}s`]
  if (!Array.isArray(list)) return []
  return list.filter(isRecord).flatMap((item) => {
    const value = item[key]
    return isRecord(value) ? [{ name: String(item.name ?? ''), value }] : []
  })
}

const broken = (reason: string, message: string, remedy: string) => new Failure('invalid', message, { reason, remedy })

const refused = (field: string) =>
  broken(
    'UnableToCreateClient',
    `the kubeconfig's ${field} is not allowed`,
    'Use a kubeconfig with a server, certificate-authority-data and a token only.',
  )
