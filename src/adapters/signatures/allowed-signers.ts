import { Failure } from '../../std/index.ts'
import { type SshPublicKey, sshKeyFrom } from './ssh-key.ts'
import { NAMESPACE } from './ssh-signature.ts'

/** Somebody who may sign, and when. */
export interface AllowedSigner {
  /** As the file has them, or the comment of a key. */
  readonly principals: string
  readonly key: SshPublicKey
  /** Milliseconds since 1970. */
  readonly after: number | undefined
  readonly before: number | undefined
}

/** Reads a file of `gpg.ssh.allowedSignersFile` (ssh-keygen(1), ALLOWED SIGNERS). Throws `invalid` with the line that it cannot read. */
export const readAllowedSigners = (text: string): AllowedSigner[] => linesOf(text, signerIn)

/** Reads a public key as ssh-keygen writes it, `ssh-ed25519 AAAA… comment`, or several. `name`: of whom has no comment. */
export const readPublicKeys = (text: string, name: string): AllowedSigner[] =>
  linesOf(text, (line) => {
    const [type = '', blob = '', ...comment] = line.split(/\s+/)
    return { principals: comment.join(' ') || name, key: keyIn(type, blob), after: undefined, before: undefined }
  })

function linesOf(text: string, read: (line: string) => AllowedSigner | undefined): AllowedSigner[] {
  return text.split('\n').flatMap((whole, at) => {
    const line = whole.trim()
    if (line === '' || line.startsWith('#')) return []
    try {
      return read(line) ?? []
    } catch (thrown) {
      throw new Failure('invalid', `line ${at + 1}: ${Failure.from(thrown).message}`, { cause: thrown })
    }
  })
}

/** `undefined`: he may sign something else than commits. */
function signerIn(line: string): AllowedSigner | undefined {
  const [principals = '', second = '', ...others] = wordsOf(line)
  // A type of key has no `=`, and no option but one is without.
  const hasOptions = second.includes('=') || /(?:^|,)cert-authority(?:,|$)/i.test(second)
  const options = hasOptions ? optionsIn(second) : undefined
  const [type = '', blob = ''] = hasOptions ? others : [second, ...others]
  const key = keyIn(type, blob)
  const { isForCommits = true, after, before } = options ?? {}
  return isForCommits ? { principals: principals.replaceAll('"', ''), key, after, before } : undefined
}

function keyIn(type: string, blob: string): SshPublicKey {
  if (type.includes('-cert-')) throw new Failure('invalid', 'certificates are not supported: name the key itself')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(blob)) throw new Failure('invalid', 'there is no public key where one is expected')
  const key = sshKeyFrom(Buffer.from(blob, 'base64'))
  if (key.type !== type) throw new Failure('invalid', `the key is one of ${key.type}, and not as its line says`)
  return key
}

/** Separated by blanks that are not in quotes. */
function wordsOf(line: string): string[] {
  const words = ['']
  let isQuoted = false
  for (const letter of line) {
    if (letter === '"') isQuoted = !isQuoted
    if (isQuoted || !/\s/.test(letter)) words.push(`${words.pop() ?? ''}${letter}`)
    else if (words.at(-1) !== '') words.push('')
  }
  if (isQuoted) throw new Failure('invalid', 'a quote has no end')
  return words
}

interface SignerOptions {
  isForCommits?: boolean
  after?: number
  before?: number
}

function optionsIn(text: string): SignerOptions {
  const found: SignerOptions = {}
  for (const [, name = '', value = ''] of text.matchAll(/(?:^|,)([^=,"]+)(?:="([^"]*)"|=([^,"]*))?/g)) {
    const option = name.toLowerCase()
    if (option === 'cert-authority') throw new Failure('invalid', 'cert-authority is not supported: name the keys themselves')
    if (option === 'namespaces') found.isForCommits = includesCommits(value)
    else if (option === 'valid-after') found.after = timeIn(name, value)
    else if (option === 'valid-before') found.before = timeIn(name, value)
    else throw new Failure('invalid', `the option ${JSON.stringify(name.slice(0, 64))} is not known`)
  }
  return found
}

function includesCommits(list: string): boolean {
  const names = list.split(',').map((name) => name.trim())
  const bad = names.find((name) => name !== '*' && !/^[A-Za-z0-9@._-]+$/.test(name))
  if (bad !== undefined)
    throw new Failure('invalid', `namespaces="${bad.slice(0, 64)}" is a pattern; write whole names such as ${NAMESPACE}, or *`)
  return names.includes(NAMESPACE) || names.includes('*')
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?Z?$/

/** In UTC also without a Z: OpenSSH would take the time zone of its machine, and kas has none. */
function timeIn(name: string, value: string): number {
  const [, year, month, day, hour = '00', minute = '00', second = '00'] = TIME.exec(value) ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // Of days that no month has, it makes days of the next one.
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== Number(day))
    throw new Failure('invalid', `${name}="${value.slice(0, 64)}" is no time; write YYYYMMDD or YYYYMMDDHHMMSSZ`)
  return time
}
