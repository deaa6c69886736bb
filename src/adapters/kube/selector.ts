/**
 * Does a label selector match? Equality (`a=b`, `a==b`, `a!=b`), sets (`a in (b,c)`, `a notin (b,c)`) and existence (`a`, `!a`).
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function matchesSelector(selector: string | undefined, labels: Record<string, string> = {}): boolean {
  if (!selector) return true
  return selector.split(/,(?![^(]*\))/).every((term) => matchesTerm(term.trim(), labels))
}

function matchesTerm(term: string, labels: Record<string, string>): boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term)
  if (set) {
    const [, key = '', operator, list = ''] = set
    const values = list.split(',').map((item) => item.trim())
    const value = labels[key]
    return (value !== undefined && values.includes(value)) === (operator === 'in')
  }
  const [, key = '', sign, value] = /^([^=!\s]+)\s*(!=|==?)\s*(\S*)$/.exec(term) ?? []
  if (sign) return (labels[key] === value) === (sign !== '!=')
  return term.startsWith('!') ? !(term.slice(1).trim() in labels) : term in labels
}
