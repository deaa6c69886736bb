import type { WebRequest } from '../../adapters/http/index.ts'
import type { BrowserRequestHead } from '../web/ports.ts'
import { countOf, isPlainTarget, plainHost } from './head.ts'

/** An ingress asks and is answered in its own way. */
export interface Dialect {
  /** Reads the head of the request that it asks about. `undefined`: it does not say so, or says it in two ways. */
  headOf(request: WebRequest): BrowserRequestHead | undefined
  /** A visitor who is not let in gets our answer, redirects and cookies among it. Otherwise it is 401 or 403, and nothing more. */
  readonly passesAnswers: boolean
  /** A header that is not answered stays in the request, so that the ingress has to be told to take it out. */
  readonly keepsHeaders: boolean
}

/**
 * Each reads the headers that its ingress writes itself, over whatever the visitor has sent, and no others: what one of them
 * overwrites another passes on as it came. Which ingress asks is told by the path, which its settings have.
 */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  /** auth_request, and ingress-nginx: an answer that is neither 2xx nor 401 nor 403 is an error for it. */
  nginx: {
    headOf(request) {
      const [, host, target = '/'] = /^https?:\/\/([^/?#\\@\s]+)(\/.*)?$/.exec(only(request, 'x-original-url') ?? '') ?? []
      return headFrom(request, { method: only(request, 'x-original-method'), host, target })
    },
    passesAnswers: false,
    keepsHeaders: false,
  },
  /** forwardAuth. */
  traefik: {
    headOf: (request) =>
      headFrom(request, {
        method: only(request, 'x-forwarded-method'),
        host: only(request, 'x-forwarded-host'),
        target: only(request, 'x-forwarded-uri'),
      }),
    passesAnswers: true,
    keepsHeaders: false,
  },
  /** ext_authz over HTTP: method and host of the request itself, and its target behind the path. */
  envoy: {
    headOf: (request) =>
      headFrom(request, { method: request.method, host: only(request, 'host'), target: request.url?.slice('/envoy'.length) }),
    passesAnswers: true,
    keepsHeaders: true,
  },
}

const only = (request: WebRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return countOf(request, name) === 1 && typeof value === 'string' ? value : undefined
}

type Given = Record<'method' | 'host' | 'target', string | undefined>

function headFrom({ headers }: WebRequest, { method = '', host: given, target = '' }: Given): BrowserRequestHead | undefined {
  const host = plainHost(given)
  if (host === undefined || !isPlainTarget(target) || !/^[A-Z]{1,20}$/.test(method)) return undefined
  // `Upgrade` is between neighbours and may not come so far.
  const isUpgrade = headers.upgrade !== undefined || headers['sec-websocket-key'] !== undefined
  return { method, host, target, headers, isUpgrade }
}
