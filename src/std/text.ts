/** More of a stranger's text is for nobody to read, and patterns take longer the longer it is. */
const MOST = 4096

/** The beginning of a text that a server, a repository or a tenant wrote; an ellipsis stands for the rest. */
export const beginningOf = (text: string, most = MOST): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** With an end, where it has none. */
export const asSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

/** A commit's full id, by SHA-1 or SHA-256. */
export const isCommitId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)

/** The text without any of these characters at its end. A pattern such as `/x+$/` takes the square of the length for it. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Characters. Nobody means a name by a text that is longer. */
const LONGEST_NAME = 256

/**
 * Whether somebody may have meant one name by the other: the same but for case, for signs between the words, and for one letter that is
 * missing, too much, or another, or two that changed places.
 */
export function isNear(right: string, wrong: string): boolean {
  if (wrong.length > LONGEST_NAME) return false
  const [a, b] = [plain(right), plain(wrong)]
  if (Math.abs(a.length - b.length) > 1) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const [restA, restB] = [a.slice(at), b.slice(at)]
  const swapped = `${restA[1] ?? ''}${restA[0] ?? ''}${restA.slice(2)}`
  return restA.slice(1) === restB.slice(1) || restA.slice(1) === restB || restA === restB.slice(1) || swapped === restB
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
