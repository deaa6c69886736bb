/** As many refs of one repository can be followed at once without losing one another's objects. */
const KEPT = 64

/** The commits of each mirror that were asked for last: those keep their objects. */
export function createRecent() {
  const mirrors = new Map<string, { commits: Set<string>; left: number }>()
  return {
    /** Notes that it was asked for. `true`: so many were asked for since the last time that the others should go. */
    use(mirror: string, commit: string): boolean {
      // Commits that an earlier run left behind go with the first.
      const known = mirrors.get(mirror) ?? { commits: new Set<string>(), left: 0 }
      mirrors.set(mirror, known)
      const isNew = !known.commits.delete(commit)
      known.commits.add(commit)
      const [oldest] = known.commits
      if (known.commits.size > KEPT && oldest !== undefined) known.commits.delete(oldest)
      if (!isNew || known.left-- > 0) return false
      known.left = KEPT
      return true
    },
    /** Those to keep. */
    kept: (mirror: string): ReadonlySet<string> => mirrors.get(mirror)?.commits ?? new Set(),
  }
}
