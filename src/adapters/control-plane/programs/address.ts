/** The address of a site or a proxy, as a person wrote it; nothing where it is none, or where its password cannot be read. */
export function addressIn(given: string, schemes: RegExp): URL | undefined {
  if (!URL.canParse(given)) return undefined
  const url = new URL(given)
  return schemes.test(url.protocol) && userIn(url) !== undefined ? url : undefined
}

/** As in `user:password`, empty where there is none. */
export function userIn({ username, password }: URL): string | undefined {
  try {
    return [username, password].map(decodeURIComponent).join(':').replace(/^:$/, '')
  } catch {
    return undefined // a `%` that begins no escape
  }
}

/** An address without what may be secret, also where it is no right one. */
export const withoutSecrets = (given: string): string =>
  /^[^?#]*[?#].*@/s.test(given) ? '***' : given.replace(/^(\w+:\/\/)?.*@/s, '$1***@').replace(/([?#]).*/s, '$1***')
