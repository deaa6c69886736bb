/** More of a stranger's text is for nobody to read, and patterns take longer the longer it is. */
const MOST = 4096

/** The beginning of a text that a server, a repository or a tenant wrote; an ellipsis stands for the rest. */
export const beginningOf = (text: string, most = MOST): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** A commit's full id, by SHA-1 or SHA-256. */
export const isCommitId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)

/** The text without any of these characters at its end. A pattern such as `/x+$/` takes the square of the length for it. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
