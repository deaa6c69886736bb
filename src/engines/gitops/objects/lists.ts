/**
 * Tells which items went and which came between two lists, by identity: of ten thousand, a commit changes few. The same beginning and
 * end with is passed over.
 */
export function turnover<T extends object>(
  before: readonly T[],
  after: readonly T[],
): { gone: readonly T[]; come: readonly T[] } {
  if (before === after) return { gone: [], come: [] }
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let end = 0
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const was = before.slice(start, before.length - end)
  const is = after.slice(start, after.length - end)
  const [known, there] = [new Set(was), new Set(is)]
  return { gone: was.filter((item) => !there.has(item)), come: is.filter((item) => !known.has(item)) }
}
