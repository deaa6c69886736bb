import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ServedRequest } from '../../adapters/http/index.ts'

type Check = (given: string, body: Buffer, secret: string) => boolean

const hmac = (body: Buffer, secret: string): string => createHmac('sha256', secret).update(body).digest('hex')

const isEqual = (given: string, wanted: string): boolean => {
  const [a, b] = [createHmac('sha256', 'length').update(given).digest(), createHmac('sha256', 'length').update(wanted).digest()]
  return timingSafeEqual(a, b)
}

/** Each kind of Git server proves in its own way that it knows the secret. */
const SIGNATURES: Record<string, Check> = {
  'x-berth-signature': (given, body, secret) => isEqual(given, `sha256=${hmac(body, secret)}`),
  'x-hub-signature-256': (given, body, secret) => isEqual(given, `sha256=${hmac(body, secret)}`),
  'x-gitea-signature': (given, body, secret) => isEqual(given, hmac(body, secret)),
  'x-gitlab-token': (given, _body, secret) => isEqual(given, secret),
}

/** True when the request carries a proof at all; without one no Secret is read for it. */
export const isSigned = (request: ServedRequest): boolean =>
  Object.keys(SIGNATURES).some((header) => request.header(header) !== undefined)

/** Every proof that is there must hold. */
export function isGenuine(request: ServedRequest, secret: string): boolean {
  const given = Object.entries(SIGNATURES).flatMap(([header, check]) => {
    const value = request.header(header)
    return value === undefined ? [] : [check(value, request.body, secret)]
  })
  return given.length > 0 && given.every(Boolean)
}
