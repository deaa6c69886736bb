/** Whatever in URLs of any text may be a secret: what stands between `//` and the host's `@`, and what follows `?` or `#`. */
export const redactUrls = (text: string): string =>
  text.replace(/\/\/[^\s/?#]*@/g, '//***@').replace(/(\w+:\/\/[^\s?#']*[?#])[^\s']+/g, '$1***')
