import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type AddressKind, Failure, kindOfAddress } from '../../std/index.ts'
import type { Remote } from './remote.ts'

/** Limits where repositories may be. Tenants choose the URLs, and kas stands inside the network. */
export interface ReachRules {
  /** Kinds of addresses that a host may have. */
  addresses: readonly Exclude<AddressKind, 'forbidden'>[]
  /** Names of hosts, or `*.example.com` for all below one; all without it. */
  hosts: readonly string[] | undefined
}

/** The addresses of a host. */
export type Resolve = (host: string) => Promise<string[]>

/** The addresses that were checked, to which git is tied. */
export interface Pin {
  host: string
  port: string
  addresses: readonly string[]
}

/** Checks a remote before each contact. */
export type Approach = (remote: Remote) => Promise<Pin | undefined>

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'ssh:': '22' }

export const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

export function createApproach(rules: ReachRules, resolve: Resolve, environment: Readonly<Record<string, string>>): Approach {
  return async ({ url, credential }) => {
    const { hostname, protocol, port } = new URL(url)
    const usual = PORTS[protocol]
    // Git refuses every other protocol by itself.
    if (usual === undefined) return
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    if (!isListed(host, rules.hosts)) throw refused(url, 'HostNotAllowed', 'repositories of its host are not fetched here')
    const addresses = isIP(host) ? [host] : await addressesOf(url, host, resolve, hasProxy(protocol, environment))
    const kinds = new Set(addresses.map(kindOfAddress))
    const bad = [...kinds].find((kind) => !rules.addresses.some((allowed) => allowed === kind))
    if (bad) throw refused(url, 'AddressNotAllowed', `its host has ${TITLES[bad]} address, which is not fetched from here`)
    const isLocal = kinds.has('loopback') && kinds.size === 1
    if (credential && protocol === 'http:' && !isLocal) throw unencrypted(url)
    return addresses.length === 0 ? undefined : { host, port: port || usual, addresses }
  }
}

const TITLES: Record<AddressKind, string> = {
  public: 'a public',
  private: 'a private',
  loopback: 'a loopback',
  forbidden: 'a link-local, metadata or reserved',
}

/** Compared as a whole: nothing in a list is a pattern but a leading `*.`. */
const isListed = (host: string, hosts: readonly string[] | undefined): boolean =>
  hosts === undefined || hosts.some((entry) => (entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry))

/** Behind a proxy names of the world need not be known here: then the proxy decides what can be reached. */
async function addressesOf(url: string, host: string, resolve: Resolve, isProxied: boolean): Promise<string[]> {
  try {
    return await resolve(host)
  } catch (thrown) {
    if (isProxied) return []
    throw new Failure('unavailable', `${url}: the name of its host is not known`, {
      reason: 'Unreachable',
      remedy: 'Check spec.url, and that kas can reach the host.',
      cause: thrown,
    })
  }
}

const hasProxy = (protocol: string, environment: Readonly<Record<string, string>>): boolean =>
  protocol !== 'ssh:' &&
  Boolean(protocol === 'http:' ? environment.http_proxy : (environment.https_proxy ?? environment.HTTPS_PROXY))

const refused = (url: string, reason: string, why: string) =>
  new Failure('invalid', `url ${url}: ${why}`, {
    reason,
    remedy: 'Name a repository elsewhere, or let the administrator of kas allow it (--hosts, --addresses).',
  })

const unencrypted = (url: string) =>
  new Failure('invalid', `url ${url}: credentials are not sent over plain http`, {
    reason: 'CredentialsNotEncrypted',
    remedy: 'Use https, or leave spec.credentialsSecretRef away.',
  })
