import type { FetchedPage, ReadPage } from '../../adapters/http/index.ts'
import { allowedUrl } from '../../engines/devfiles/index.ts'
import { type Clock, createTurnstile, Failure, minutes, remembered } from '../../std/index.ts'

export interface FetchOptions {
  hosts: readonly string[]
  read: ReadPage
  clock: Clock
}

/** The text at a URL. Who asks again within a minute, or at once with others, gets the same. */
export type FetchDevfile = (url: string) => Promise<string>

const MOST_REDIRECTS = 3
const AT_ONCE = 8
/** So many texts are kept at most, for so long. */
const MOST = 16
const FRESH = minutes(1)

export function createDevfileFetcher({ hosts, read, clock }: FetchOptions): FetchDevfile {
  const turns = createTurnstile({ width: AT_ONCE })
  const textAt = remembered(
    (href: string) => turns.pass(new URL(href).host, () => follow(href, { hosts, read })),
    (href) => href,
    clock,
    { fresh: FRESH, most: MOST },
  )
  return async (wanted) => textAt(allowedUrl(wanted, hosts).href)
}

/** A redirect may lead to listed hosts only, as the URL itself. */
async function follow(text: string, { hosts, read }: Omit<FetchOptions, 'clock'>, left = MOST_REDIRECTS): Promise<string> {
  const url = allowedUrl(text, hosts)
  const page = await read(url)
  const { status, location } = page
  if (status < 300 || status >= 400 || location === undefined) return textOf(page, url)
  if (left === 0) throw useless(url, `leads on more than ${MOST_REDIRECTS} times`)
  if (!URL.canParse(location, url.href)) throw useless(url, 'leads on to what is not a URL')
  return follow(new URL(location, url.href).href, { hosts, read }, left - 1)
}

function textOf({ status, text, isWhole }: FetchedPage, url: URL): string {
  if (status >= 500 || status === 429)
    throw new Failure('unavailable', `${url.host} answers ${status}`, { remedy: 'It is tried again.' })
  if (status !== 200) throw useless(url, `answers ${status}`)
  if (!isWhole) throw useless(url, 'answers with more than a devfile may have')
  return text
}

const useless = ({ host }: URL, what: string): Failure =>
  new Failure('invalid', `${host} ${what}`, { reason: 'DevfileNotThere', remedy: 'Correct the URL, or what lies there.' })
