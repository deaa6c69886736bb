import { Failure, type LRUCache, minutes, recordIn, Secret, seconds } from '../../std/index.ts'
import type { GitCredential } from '../git/index.ts'
import { type Asking, bodyOf, requireFound, type WebAnswer } from './visit.ts'

/** What a registry has let in, by the repository and whose credential it was, and until when. */
export type RegistryTickets = LRUCache<string, { authorization: Secret<string>; until: number }>

export interface RegistryOptions extends Asking {
  tickets: RegistryTickets
  now: () => number
  /** Of the repository: `https://registry.example.com/team-a/shop`. */
  url: URL
  credential: GitCredential | undefined
}

const MOST_OF_TICKET = 2 ** 16
/** A registry that does not say how long it lets somebody in means a minute. */
const USUAL_STAY = seconds(60)
const SPARE = seconds(10)
/** Whatever it says: a credential that was taken back must not count on. */
const LONGEST_STAY = minutes(5)

/** Asks for something of the repository. */
export type AskRegistry = (to: URL, method: 'GET' | 'HEAD', accept?: string, within?: number) => Promise<WebAnswer>

/**
 * Whoever is not let in is told at which office a ticket is to be had, which is good for a while.
 * https://distribution.github.io/distribution/spec/auth/token/
 */
export function askRegistry(
  { visit, tickets, now, credential, authorities, owner, signal, url }: RegistryOptions,
  repository: string,
): AskRegistry {
  const place = `${url.host}/${repository}`
  const key = JSON.stringify([url.origin, repository, owner])

  const ticketOf = async (office: URL): Promise<Secret<string>> => {
    office.searchParams.set('scope', `repository:${repository}:pull`)
    const given = await visit({ url: office, authorization: basicOf(credential), authorities, signal })
    const text = await bodyOf(requireFound(given, place), MOST_OF_TICKET)
    const { token, access_token: access = token, expires_in: lasts } = recordIn(text.toString('utf8')) ?? {}
    if (typeof access !== 'string' || access === '')
      throw new Failure('unauthorized', `${place}: ${office.origin} gives no ticket`, {
        reason: 'AuthenticationFailed',
        remedy: 'Check the Secret that spec.credentialsSecretRef names, and what it may read.',
      })
    const authorization = new Secret(`Bearer ${access}`)
    const stay = Math.min(typeof lasts === 'number' ? seconds(lasts) : USUAL_STAY, LONGEST_STAY)
    tickets.set(key, { authorization, until: now() + stay - SPARE })
    return authorization
  }

  return async (to, method, accept, within) => {
    const known = tickets.get(key)
    const headers = accept === undefined ? {} : { accept }
    const ask = { url: to, method, headers, authorities, signal, ...(within !== undefined && { within }) }
    const first = await visit({ ...ask, authorization: known && known.until > now() ? known.authorization : undefined })
    // Where the registry has led on to, nobody says to whom the credential is shown.
    if (first.status !== 401 || first.url.origin !== to.origin) return first
    tickets.delete(key)
    const challenge = first.header('www-authenticate') ?? ''
    const office = officeIn(challenge)
    const authorization = /^basic\b/i.test(challenge) ? basicOf(credential) : office && (await ticketOf(office))
    if (!authorization) return first
    first.body.destroy()
    return visit({ ...ask, authorization })
  }
}

/** Of `Bearer realm="https://…",service="…"`. */
function officeIn(challenge: string): URL | undefined {
  if (!/^bearer\b/i.test(challenge)) return undefined
  const named = new Map<string, string>()
  for (const part of challenge.slice('bearer'.length).split(',')) {
    const [name = '', ...value] = part.trim().split('=')
    named.set(name, value.join('=').replaceAll('"', ''))
  }
  const [realm = '', service] = [named.get('realm'), named.get('service')]
  if (!URL.canParse(realm)) return undefined
  const office = new URL(realm)
  if (service !== undefined) office.searchParams.set('service', service)
  return office
}

const basicOf = (credential: GitCredential | undefined): Secret<string> | undefined => {
  if (!credential) return undefined
  const { username = '', password } = credential
  return new Secret(`Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`)
}
