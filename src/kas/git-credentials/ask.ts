import type { Question } from '../../adapters/http/index.ts'
import type { Ref } from '../../api/index.ts'
import { Secret } from '../../std/index.ts'

/** What a pod wants, and what it shows. */
export interface Ask {
  workspace: Ref & { namespace: string }
  token: Secret<string>
  /** The repository that Git wants to be let in to. */
  url: string
}

const PATH = /^\/git\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})\/info\/refs$/

/** `GET /git/<namespace>/<workspace>/info/refs`; `undefined` when something of it is missing. */
export function readAsk({ method, path, header }: Question): Ask | undefined {
  const [, namespace, name] = PATH.exec(path) ?? []
  const [, token] = /^bearer +(\S+)$/i.exec(header('authorization') ?? '') ?? []
  const url = header('berth-git-url')
  if (method !== 'GET' || !namespace || !name || !token || !url) return undefined
  return { workspace: { namespace, name }, token: new Secret(token), url }
}
