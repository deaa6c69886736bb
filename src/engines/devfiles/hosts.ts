import { Failure } from '../../std/index.ts'

const LONGEST = 2048

/** Who says which hosts: kas for all, and the class for its workspaces. */
export type HostLister = 'kas' | 'class'

const REMEDY: Readonly<Record<HostLister, string>> = {
  kas: 'let the administrator of kas allow its host (--devfile-hosts)',
  class: 'choose a class that allows its host (spec.devfileHosts)',
}

/** The URL, if it may be read: names are compared as a whole, a leading `*.` stands for whatever is below, and ports are 443 but where one is listed. */
export function allowedUrl(text: string, hosts: readonly string[], lister: HostLister = 'kas'): URL {
  const url = URL.canParse(text) && text.length <= LONGEST ? new URL(text) : undefined
  if (!url) throw refused('it is not a URL', 'Write https://<host>/<path>.')
  if (url.protocol !== 'https:') throw refused(`it begins with ${url.protocol}//`, 'Devfiles are fetched by https only.')
  if (url.username !== '' || url.password !== '') throw refused('it carries credentials', 'Leave them out.')
  if (hosts.some((entry) => isListed(url, entry))) return url
  const other = hosts.length > 0 ? `Use one of ${hosts.join(', ')}, put it into a GitProject, or` : 'Put it into a GitProject, or'
  throw refused(`devfiles of ${url.host} are not fetched here`, `${other} ${REMEDY[lister]}.`, 'HostNotAllowed')
}

function isListed({ hostname, port }: URL, entry: string): boolean {
  const [, host = '', listed = ''] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  const isHost = host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host
  return isHost && port === (listed === '443' ? '' : listed)
}

const refused = (why: string, remedy: string, reason = 'UrlNotAllowed'): Failure =>
  new Failure('invalid', why, { reason, remedy })
