/** Whatever in URLs of any text may be a secret: what stands between `//` and the host's `@`, and what follows `?` or `#`. */
export const redactUrls = (text: string): string => text.replace(/\/\/[^\s/?#]*@/g, '//***@').replace(/[^\s']+/g, withoutQuery)

/** Of a word, so that each of its characters is looked at once. */
function withoutQuery(word: string): string {
  const url = word.search(/\w:\/\//)
  const query = url < 0 ? -1 : word.slice(url).search(/[?#]./)
  return query < 0 ? word : `${word.slice(0, url + query + 1)}***`
}
