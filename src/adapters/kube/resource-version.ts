/** resourceVersions of one kind are decimal numbers that grow (KEP-5504); longer than a double holds. */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  if (!a) return false
  if (!b) return true
  return a.length === b.length ? a > b : a.length > b.length
}
