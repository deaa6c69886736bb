import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** Of the page that this is. */
  url: URL
}

export interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** As much of a browser as it takes to sign in: cookies by host, redirects followed, `__Host-` taken seriously. */
export interface Browser {
  /** One request, nothing followed. */
  ask(url: string | URL, asked?: Asked): Promise<Answer>
  /** A page, and where it leads. */
  open(url: string | URL, asked?: Asked): Promise<Answer>
  /** As a header. */
  cookies(host: string): string
  jar(host: string): Map<string, string>
}

const MOST_REDIRECTS = 12

/** Every https URL is asked of the proxy, by its host, or of whom it is reached by; every http one is real. */
export function browser(proxy: string | ((url: URL) => RequestOptions)): Browser {
  const jars = new Map<string, Map<string, string>>()
  const jar = (host: string): Map<string, string> => {
    const found = jars.get(host) ?? new Map<string, string>()
    jars.set(host, found)
    return found
  }
  const cookies = (host: string): string => [...jar(host)].map(([name, value]) => `${name}=${value}`).join('; ')
  const keep = (host: string, header: string) => {
    const [pair = '', ...attributes] = header.split(/; */)
    const name = pair.slice(0, pair.indexOf('='))
    const has = (word: string) => attributes.some((attribute) => attribute.toLowerCase() === word)
    const isDomain = attributes.some((attribute) => /^domain/i.test(attribute))
    if (name.startsWith('__Host-') && (!(has('secure') && has('path=/')) || isDomain)) return
    if (has('max-age=0')) jar(host).delete(name)
    else jar(host).set(name, pair.slice(pair.indexOf('=') + 1))
  }
  const ask = async (where: string | URL, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> => {
    const url = new URL(where)
    const at = (place: string): RequestOptions => ({
      host: place.replace(/:\d+$/, ''),
      port: place.replace(/^.*:/, ''),
      agent: false,
    })
    const reached = url.protocol === 'http:' ? at(url.host) : typeof proxy === 'string' ? at(proxy) : proxy(url)
    const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      const own = cookies(url.host)
      const all = { host: url.host, accept: 'text/html,*/*', ...(own && { cookie: own }), ...headers }
      const request = httpRequest({ ...reached, method, path: `${url.pathname}${url.search}`, headers: all }, resolve)
      request.on('error', reject)
      request.end(body)
    })
    for (const header of answer.headers['set-cookie'] ?? []) keep(url.host, header)
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer), url }
  }
  return {
    ask,
    cookies,
    jar,
    async open(where, asked) {
      let answer = await ask(where, asked)
      for (let left = MOST_REDIRECTS; answer.headers.location !== undefined && left > 0; left--)
        answer = await ask(new URL(answer.headers.location, answer.url))
      return answer
    },
  }
}
