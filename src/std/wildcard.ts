/** Whether `*` in the pattern can stand for letters so that it is the text. In time that grows with the text alone, and not with what stars allow. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  if (!text.startsWith(first)) return false
  const last = others.pop()
  if (last === undefined) return text === first
  let at = first.length
  // Each part behind the one before, the last one at the end: the first place of each is as good as any.
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
