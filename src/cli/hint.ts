import { keyOf, type Ref } from '../api/index.ts'

const MOST = 8

/** Pure. Which ones might have been meant: of that name elsewhere, else those of the namespace, the likeliest first. */
export function likely(wanted: Ref, known: readonly Ref[], list: string): string {
  const elsewhere = known.filter(({ name }) => name === wanted.name)
  if (elsewhere.length > 0) return `There is ${elsewhere.slice(0, MOST).map(keyOf).join(', ')}: name the namespace with -n.`
  const here = known.filter(({ namespace }) => namespace === wanted.namespace).map(({ name }) => name)
  const [first, ...others] = here.toSorted((a, b) => distance(a, wanted.name) - distance(b, wanted.name) || (a < b ? -1 : 1))
  if (first !== undefined) {
    const more = here.length > MOST ? ` and ${here.length - MOST} more` : ''
    return `In that namespace there is ${[first, ...others].slice(0, MOST).join(', ')}${more}.`
  }
  const near = known.filter(({ name }) => distance(name, wanted.name) <= 2)
  if (near.length > 0) return `There is ${near.slice(0, MOST).map(keyOf).join(', ')}.`
  return `In that namespace there is none. List them with ${list}.`
}

/** How many letters must be changed, added or left out to come from one word to the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries())
      next.push(Math.min((row[index] ?? 0) + (letter === other ? 0 : 1), (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    row = next
  }
  return row[to.length] ?? 0
}
