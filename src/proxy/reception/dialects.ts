import type { IncomingMessage } from 'node:http'
import type { Call } from '../ports.ts'
import { countOf, isPlainTarget, plainHost } from './shape.ts'

/** How an ingress asks, and how it is answered. */
export interface Dialect {
  /** What the request wants that it asks about. `undefined`: it does not say so, or says it in two ways. */
  callOf(request: IncomingMessage): Call | undefined
  /** Whether what is not let in gets our answer, redirects and cookies among it. Otherwise it is told 401 or 403, and nothing more. */
  readonly passesAnswers: boolean
  /** Whether a header that is not answered stays in the request, so that it has to be told to take it out. */
  readonly keepsHeaders: boolean
}

/**
 * Each reads the headers that its ingress writes itself, over whatever the visitor has sent, and no others: what one of them
 * overwrites another passes on as it came. Which ingress asks is told by the path, which its settings have.
 */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  /** auth_request, and ingress-nginx: whatever is neither 2xx nor 401 nor 403 is an error for it. */
  nginx: {
    callOf(request) {
      const [, host, target = '/'] = /^https?:\/\/([^/?#\\@\s]+)(\/.*)?$/.exec(only(request, 'x-original-url') ?? '') ?? []
      return callFrom(request, { method: only(request, 'x-original-method'), host, target })
    },
    passesAnswers: false,
    keepsHeaders: false,
  },
  /** forwardAuth. */
  traefik: {
    callOf: (request) =>
      callFrom(request, {
        method: only(request, 'x-forwarded-method'),
        host: only(request, 'x-forwarded-host'),
        target: only(request, 'x-forwarded-uri'),
      }),
    passesAnswers: true,
    keepsHeaders: false,
  },
  /** ext_authz over HTTP: method and host of the request itself, and its target behind the path. */
  envoy: {
    callOf: (request) =>
      callFrom(request, { method: request.method, host: only(request, 'host'), target: request.url?.slice('/envoy'.length) }),
    passesAnswers: true,
    keepsHeaders: true,
  },
}

const only = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name]
  return countOf(request, name) === 1 && typeof value === 'string' ? value : undefined
}

interface Told {
  method: string | undefined
  host: string | undefined
  target: string | undefined
}

function callFrom({ headers }: IncomingMessage, { method = '', host: given, target = '' }: Told): Call | undefined {
  const host = plainHost(given)
  if (host === undefined || !isPlainTarget(target) || !/^[A-Z]{1,20}$/.test(method)) return undefined
  // `Upgrade` is between neighbours and may not come so far.
  const isUpgrade = headers.upgrade !== undefined || headers['sec-websocket-key'] !== undefined
  return { method, host, target, headers, isUpgrade }
}
