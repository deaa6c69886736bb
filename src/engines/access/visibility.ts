/** From the narrowest to the widest. */
const ORDER = ['owner', 'members', 'authenticated', 'public'] as const

/** Who may reach a port besides those it is shared with. */
export type Visibility = (typeof ORDER)[number]

/** What no part of an answer may go beyond. Of none it is what needs no trust. */
export const narrowest = (...given: readonly Visibility[]): Visibility =>
  ORDER.find((visibility) => given.includes(visibility)) ?? 'owner'

/** A word that is not known, of a later version perhaps, lets nobody in but the owner. */
export const visibilityFrom = (word: string | undefined, otherwise: Visibility): Visibility =>
  word === undefined ? otherwise : (ORDER.find((visibility) => visibility === word) ?? 'owner')
