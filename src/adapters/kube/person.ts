import type { RequestOptions } from 'node:https'
import { Failure, Secret } from '../../std/index.ts'
import { loadKubeConfig } from './connection.ts'
import { headersOf, unreadable } from './credentials.ts'

/** How a person logs in, as kubeconfigs have it: what stands in `users[].user`. */
export type Login = Readonly<{ token: string } | { tokenFile: string } | { exec: object }>

/** The login of the current context, to be used with another server. Certificates are for one API server and no other. */
export function loginOf(from: { kubeconfig?: string | undefined; context?: string | undefined }): Secret<Login> {
  const user = loadKubeConfig({ file: from.kubeconfig, context: from.context }).getCurrentUser()
  const exec: unknown = user?.exec
  const file: unknown = user?.authProvider?.config?.tokenFile
  if (typeof exec === 'object' && exec !== null) return new Secret({ exec })
  if (typeof file === 'string') return new Secret({ tokenFile: file })
  if (user?.token) return new Secret({ token: user.token })
  throw new Failure('invalid', 'the current context logs in with neither a token nor an exec plugin', {
    reason: 'NoToken',
    remedy: 'kas asks the management cluster about tokens; name a context that has one with --context.',
  })
}

/** The token by which the current context logs in now, be it from a file or an exec plugin. */
export async function tokenOfPerson(from: {
  kubeconfig?: string | undefined
  context?: string | undefined
}): Promise<Secret<string>> {
  const request: RequestOptions = {}
  await loadKubeConfig({ file: from.kubeconfig, context: from.context })
    .applyToHTTPSOptions(request)
    .catch((cause: unknown) => {
      throw unreadable(cause)
    })
  const [, token] = /^Bearer (\S+)$/.exec(headersOf(request).authorization ?? '') ?? []
  if (token !== undefined) return new Secret(token)
  throw new Failure('unauthorized', 'the current context logs in without a token', {
    reason: 'NoToken',
    remedy: 'Name a context that has a token or an exec plugin with --context: certificates of TLS are for the API server alone.',
  })
}
