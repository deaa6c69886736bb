import { Failure, Secret } from '../../std/index.ts'
import { loadKubeConfig } from './connection.ts'

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
