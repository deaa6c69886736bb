import { createHash } from 'node:crypto'
import { matchesWildcard } from '../../std/index.ts'

/** Which branches somebody asks for: `*` stands for any letters. */
interface BranchPattern {
  pattern?: string
  except?: string[]
}

const HEADS = 'refs/heads/'

/** The pattern of whole names of refs. */
export const refsOf = ({ pattern = '*' }: BranchPattern): string => `${HEADS}${pattern}`

export const branchOf = (ref: string): string => ref.slice(HEADS.length)

export const isAskedFor = (branch: string, { pattern = '*', except = [] }: BranchPattern): boolean =>
  matchesWildcard(pattern, branch) && !except.some((not) => matchesWildcard(not, branch))

/** Characters of a slug without its digest, and of the digest. */
interface SlugSize {
  longest: number
  digits: number
}

/** Nobody finds two names that have the same digest of this size. */
const UNIQUE: SlugSize = { longest: 30, digits: 20 }

/** Of the letters that names of objects have. What is not written so anyway, or looks like it, ends with a digest: no two names have one slug. */
export function slugOf(name: string, { longest, digits }: SlugSize = UNIQUE): string {
  const plain = trimmed(
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, longest),
  )
  if (plain === name && !looksDigested(name, digits)) return plain
  const digest = createHash('sha256').update(name).digest('hex').slice(0, digits)
  return plain === '' ? digest : `${plain}-${digest}`
}

/** A digest alone, or at the end of a slug. */
function looksDigested(name: string, digits: number): boolean {
  const end = name.slice(-digits)
  return end.length === digits && /^[0-9a-f]+$/.test(end) && (name.length === digits || name.at(-digits - 1) === '-')
}

const trimmed = (text: string): string => text.slice(text.startsWith('-') ? 1 : 0, text.endsWith('-') ? -1 : undefined)
