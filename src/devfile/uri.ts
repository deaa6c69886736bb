export const URI_REMEDY = 'write https://…, or a path relative to this file'

/** Absolute, or relative to the file it stands in. */
export function isUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a URI must not have
  if (text === '' || /[\s\u0000-\u001F\u007F<>"{}|\\^`]/.test(text)) return false
  return URL.canParse(text, 'https://host/folder/')
}

export const isAbsolute = (uri: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(uri)

/** A URI as seen from a file; `undefined` when it leads out of the folder in which all began. */
export function resolvedUri(uri: string, from: string): string | undefined {
  if (isAbsolute(uri)) return new URL(uri).href
  if (isAbsolute(from)) return besides(uri, new URL(from))
  const parts = from.split('/').slice(0, -1)
  for (const part of uri.replace(/^\//, '').split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined
    if (part !== '..' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

/** The query of what is no web page says which version of it is meant: what is beside it is of the same. */
function besides(uri: string, from: URL): string {
  const found = new URL(uri, from)
  if (!/^https?:$/.test(from.protocol) && found.search === '') found.search = from.search
  return found.href
}
