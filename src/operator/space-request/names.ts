/** Names that follow from what they are for: whoever is interrupted finds under them what it had begun. */

const LONGEST = 63

/** Names for the namespace of a request, best first: a foreign namespace may already have one. */
export const namespaceNames = (parent: string, uid: string): string[] => suffixed(parent, uid)

/** Names for the Secret of a request, best first. */
export const secretNames = (request: string, uid: string): string[] => suffixed(request.replaceAll('.', '-'), uid)

function suffixed(stem: string, uid: string): string[] {
  const digits = uid.replaceAll('-', '')
  return [5, 10, 20].map((length) => `${stem.slice(0, LONGEST - length - 1)}-${digits.slice(0, length)}`)
}

/** A label value: a name that is too long is left out, since whatever it is shortened to would be another name. */
export const asLabel = (key: string, name: string): Record<string, string> => (name.length <= LONGEST ? { [key]: name } : {})
