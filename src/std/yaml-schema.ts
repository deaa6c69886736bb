import type { ScalarTag, Tags } from 'yaml'

/** The library compares every key of a mapping with every other one; who reads the document does it in one go. */
export const CORE = { schema: 'core', prettyErrors: false, uniqueKeys: false, logLevel: 'silent' } as const

const INT = 'tag:yaml.org,2002:int'
const FLOAT = 'tag:yaml.org,2002:float'

/** Octal numbers as Go writes them, which neither YAML knows. */
const goOctal: ScalarTag = {
  default: true,
  tag: INT,
  format: 'OCT',
  test: /^[-+]?0[oO]_*[0-7][0-7_]*$/,
  resolve: (text) => exactly(text),
}

/** Go takes the letter in both sizes, and wants a digit after it. */
const SPELLINGS: Record<string, RegExp> = {
  BIN: /^[-+]?0[bB]_*[01][01_]*$/,
  HEX: /^[-+]?0[xX]_*[\da-fA-F][\da-fA-F_]*$/,
}

/** Numbers that are none for Go are texts: `.`, `e5`, as a commit may be called, `._5`. It takes underscores anywhere but behind a point at the beginning. */
const FRACTION = /^(?:\.\d+|[-+]_*\._*\d[\d_]*|(?:[-+]_*)?\d[\d_]*\.[\d_]*)$/
const EXPONENT = /^(?:\.\d+[eE][-+]?\d+|(?:[-+]_*\._*\d[\d_]*|(?:[-+]_*)?\d[\d_]*(?:\.[\d_]*)?)[eE]_*(?:[-+]_*)?\d[\d_]*)$/

/** No number has more digits; that of bits would have. */
const MOST_DIGITS = 1100

/** A number, where JSON has the very integer for it that is written; else an integer, which is that one unless it is longer than any that is used. */
function exactly(text: string): number | bigint {
  const digits = text.replaceAll('_', '').toLowerCase()
  const unsigned = /^[-+]/.test(digits) ? digits.slice(1) : digits
  if (unsigned.length > MOST_DIGITS) return 2n ** 64n
  const written = BigInt(/^0[0-7]+$/.test(unsigned) ? `0o${unsigned.slice(1)}` : unsigned)
  const integer = digits.startsWith('-') ? -written : written
  const number = Number(integer)
  // Even of what a number can be, its text has only so many digits as tell it from its neighbours.
  return String(number) === String(integer) ? number : integer
}

const likeKubernetes = (tags: Tags): Tags => [
  goOctal,
  ...tags
    .filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && !tag.tag.endsWith(':timestamp')))
    .map((tag) => {
      if (typeof tag === 'string' || 'collection' in tag) return tag
      if (tag.tag === FLOAT && !tag.test?.test('.nan')) return { ...tag, test: tag.format === 'EXP' ? EXPONENT : FRACTION }
      if (tag.tag !== INT) return tag
      const test = SPELLINGS[tag.format ?? '']
      return { ...tag, ...(test && { test }), resolve: exactly }
    }),
]

export const LIKE_KUBERNETES = { ...CORE, schema: 'yaml-1.1', customTags: likeKubernetes } as const
