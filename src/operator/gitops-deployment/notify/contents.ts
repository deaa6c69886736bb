import { type CoreSecret, textIn } from '../../../api/index.ts'
import { Failure } from '../../../std/index.ts'

/** What the Secret of a receiver says. */
export interface Contents {
  has(key: string): boolean
  need(key: string): string
  /** A value that fits into a header. */
  word(key: string): string
  url(key: string): URL | undefined
  needUrl(key: string): URL
  /** One header a line, by their names in small letters. */
  headers(key: string): Record<string, string>
}

export function contentsOf(secret: CoreSecret): Contents {
  const read = (key: string) => (textIn(secret, key) ?? '').trim()
  const need = (key: string) => read(key) || missing(key)
  const url = (key: string) => {
    const text = read(key)
    if (text === '') return
    if (URL.canParse(text)) return new URL(text)
    throw new Failure('invalid', `its key ${key} is no URL`, { remedy: 'Write it like https://hooks.example.com/berth' })
  }
  return {
    has: (key) => read(key) !== '',
    need,
    word(key) {
      const text = need(key)
      if (/^[!-~]+$/.test(text)) return text
      throw new Failure('invalid', `its key ${key} has spaces, line breaks or letters that no token has`, {
        remedy: 'Write the token anew',
      })
    },
    url,
    needUrl: (key) => url(key) ?? missing(key),
    headers: (key) => headersIn(read(key), key),
  }
}

function missing(key: string): never {
  throw new Failure('invalid', `it has no key ${key}`, { remedy: `Add the key ${key}` })
}

/** Characters of a header. */
const LONGEST = 4096
/** These belong to the connection, or say what Berth vouches for. */
const OURS = /^(?:host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|x-berth-.*)$/

/** Of a line that is wrong its number is told, and nothing that stands in it. */
function headersIn(text: string, key: string): Record<string, string> {
  const lines = text === '' ? [] : text.split('\n', 33)
  if (lines.length > 32) throw new Failure('invalid', `its key ${key} has more than 32 lines`, { remedy: 'Leave some out' })
  const headers = lines.map((line, at) => {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, Math.max(colon, 0)).toLowerCase(), line.slice(colon + 1).trim()]
    const isOurs = OURS.test(name)
    if (/^[a-z0-9-]+$/.test(name) && /^[ -~]+$/.test(value) && line.length <= LONGEST && !isOurs) return [name, value]
    throw new Failure('invalid', `line ${at + 1} of its key ${key} is ${isOurs ? 'a header that Berth sets' : 'no header'}`, {
      remedy: 'Write it like authorization: Bearer 123',
    })
  })
  return Object.fromEntries(headers)
}
