import { Failure } from '../../std/index.ts'

/** What is signed in a commit, and by what. */
export interface SignedParts {
  /** The commit without the headers of its signatures; a signed tag that was merged stays in it. */
  readonly payload: Buffer
  readonly signature: string | undefined
}

/** The longest that programs make are those of RSA with 16384 bits, of four thousand characters. */
const MOST_OF_SIGNATURE = 64 * 2 ** 10
const NEWLINE = 0x0a
const SPACE = 0x20

const HEADERS = ['gpgsig', 'gpgsig-sha256']

/**
 * What Git reads, where it reads it: https://git-scm.com/docs/git-hash-object. Behind anything else it sees no parent, while one who
 * takes the signature out would find the parents that were signed.
 */
const BEGINNING = /^tree [0-9a-f]{40,64}\n(?:parent [0-9a-f]{40,64}\n)*author [^\n]*\ncommitter [^\n]*\n/

/**
 * Takes a commit apart as git-verify-commit does. Only what stands before the first empty line are headers: a message says what it
 * likes. Throws `invalid` where a signature stands there twice, or a header where Git has none, for then each reader could mean
 * something else.
 */
export function partsOf(raw: Buffer, id: string): SignedParts {
  const wanted = id.length === 64 ? 'gpgsig-sha256' : 'gpgsig'
  const kept: Buffer[] = []
  const signatures = new Map<string, Buffer[]>()
  let current: Buffer[] | undefined
  if (!BEGINNING.test(raw.toString('latin1', 0, Math.max(raw.indexOf('\n\n') + 1, 0))))
    throw new Failure('invalid', 'its headers are not in the order in which Git reads them')
  let at = 0
  while (at < raw.length && raw[at] !== NEWLINE) {
    const end = raw.indexOf(NEWLINE, at)
    const line = raw.subarray(at, end < 0 ? raw.length : end + 1)
    at += line.length
    if (line[0] !== SPACE) current = begun(line, signatures)
    if (current) current.push(line[0] === SPACE ? line.subarray(1) : line.subarray(line.indexOf(SPACE) + 1))
    else kept.push(line)
  }
  kept.push(raw.subarray(at))
  const signature = signatures.get(wanted)
  return { payload: Buffer.concat(kept), signature: signature && textOf(signature) }
}

/** The lines of a signature that begins with this one. */
function begun(line: Buffer, signatures: Map<string, Buffer[]>): Buffer[] | undefined {
  const name = line.toString('latin1', 0, Math.max(line.indexOf(SPACE), 0))
  if (!HEADERS.includes(name)) return
  if (signatures.has(name)) throw new Failure('invalid', 'it has two of them')
  const lines: Buffer[] = []
  signatures.set(name, lines)
  return lines
}

function textOf(lines: readonly Buffer[]): string {
  const bytes = lines.reduce((sum, { length }) => sum + length, 0)
  if (bytes > MOST_OF_SIGNATURE) throw new Failure('invalid', `it is ${bytes} bytes long; at most ${MOST_OF_SIGNATURE} are read`)
  return Buffer.concat(lines).toString('latin1').trimEnd()
}
