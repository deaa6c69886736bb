import { Failure, Secret } from '../../std/index.ts'
import { bearerIn } from '../tokens/token.ts'

/** The request of a visitor, with the token that he shows. */
export interface Ask {
  agent: { id: bigint } | { namespace: string; name: string }
  token: Secret<string>
  /** `ci` and `pat`: the visitor said as what the token is to be judged. */
  as: 'ci' | 'pat' | 'either'
  /** Path of the cluster's API, decoded. */
  path: string
  /** Precedes `path` in the URL at kas. */
  prefix: string
  query: URLSearchParams
}

const OWN = /^\/k8s\/namespaces\/([a-z0-9][a-z0-9-]{0,62})\/agents\/([a-z0-9][a-z0-9.-]{0,252})(?=\/|$)/

/** Reads GitLab's form, `Bearer pat:<agent id>:<token>` at `/`, and Berth's own, a plain token below `/k8s/…`. */
export function readAsk(target: string, authorization: readonly string[] | undefined): Ask {
  const [given] = authorization ?? []
  const token = bearerIn(given)
  // Two of them: one that is looked at here, and another that somebody behind looks at.
  if (token === undefined || authorization?.length !== 1)
    throw new Failure('unauthorized', 'the request carries no bearer token', { reason: 'TokenMissing' })
  const [raw = '', ...search] = target.split('?')
  const query = new URLSearchParams(search.join('?'))
  const [prefix, namespace, name] = OWN.exec(raw) ?? []
  if (prefix !== undefined && namespace !== undefined && name !== undefined) {
    const path = pathOf(raw.slice(prefix.length) || '/')
    return { agent: { namespace, name }, token, as: 'either', path, prefix, query }
  }
  const [, as, id, rest] = /^(ci|pat):(\d{1,19}):(\S+)$/.exec(token.reveal()) ?? []
  if (id === undefined || rest === undefined)
    throw new Failure('unauthorized', 'the token names no agent', {
      reason: 'TokenMissing',
      remedy: 'Use the server that `berth agent kubeconfig` prints, or write pat:<agent id>:<token>.',
    })
  return {
    agent: { id: BigInt(id) },
    token: new Secret(rest),
    as: as === 'ci' ? 'ci' : 'pat',
    path: pathOf(raw),
    prefix: '',
    query,
  }
}

/** The agent gets the path decoded: what would mean another one then is refused here. */
function pathOf(raw: string): string {
  const path = decoded(raw)
  const climbs = path?.split('/').some((part) => part === '.' || part === '..')
  if (path === undefined || !path.startsWith('/') || climbs || /\p{Cc}/u.test(path))
    throw new Failure('invalid', 'the path cannot be read', { remedy: 'Send a path without dots between slashes.' })
  return path
}

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}
