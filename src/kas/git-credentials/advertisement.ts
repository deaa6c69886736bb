/**
 * The answer, as a list of refs: so the only program that a workspace needs to ask is the one that wants the credential. The names
 * are `refs/berth/<key>/<value>`; in a value each byte but letters, digits, `-` and `_` is `=` and its three octal digits.
 */
export function advertisementOf(fields: Readonly<Record<string, string>>): string {
  const refs = Object.entries(fields).map(([key, value]) => `refs/berth/${key}/${escaped(value)}`)
  const [first = EMPTY, ...rest] = refs.sort()
  const lines = [`${first === EMPTY ? NOBODY : ID} ${first}\0agent=berth\n`, ...rest.map((ref) => `${ID} ${ref}\n`)]
  return [packet('# service=git-upload-pack\n'), FLUSH, ...lines.map(packet), FLUSH].join('')
}

/** What Git says of a repository without refs. */
const EMPTY = 'capabilities^{}'
const NOBODY = '0'.repeat(40)
/** Refs lead to something; this leads nowhere. */
const ID = '1'.repeat(40)
const FLUSH = '0000'

const packet = (line: string): string => (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line

const escaped = (value: string): string =>
  [...Buffer.from(value)]
    .map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `=${byte.toString(8).padStart(3, '0')}`))
    .join('')

const isPlain = (byte: number): boolean => /[A-Za-z0-9_-]/.test(String.fromCharCode(byte))
