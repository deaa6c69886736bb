import { setImmediate as breathe } from 'node:timers/promises'
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
export const readAllowedSigners = (text: string): Promise<AllowedSigner[]> => readEach(text, signerIn)

/** Reads a public key as ssh-keygen writes it, `ssh-ed25519 AAAA… comment`, or several. `name`: of whom has no comment. */
export const readPublicKeys = (text: string, name: string): Promise<AllowedSigner[]> =>
  readEach(text, (line) => {
    const [type = '', blob = '', ...comment] = line.split(/\s+/)
    return { principals: comment.join(' ') || name, key: keyIn(type, blob), after: undefined, before: undefined }
  })

/** How many keys stand there at most, one on a line. */
export const countKeys = (text: string): number => linesOf(text).length

const linesOf = (text: string): { line: string; number: number }[] =>
  text
    .split('\n')
    .map((line, at) => ({ line: line.trim(), number: at + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))

async function readEach(text: string, read: (line: string) => AllowedSigner | undefined): Promise<AllowedSigner[]> {
  const signers: AllowedSigner[] = []
  for (const { line, number } of linesOf(text)) {
    // A key of RSA takes a tenth of a millisecond.
    await breathe()
    try {
      const signer = read(line)
      if (signer) signers.push(signer)
    } catch (thrown) {
      throw new Failure('invalid', `line ${number}: ${Failure.from(thrown).message}`, { cause: thrown })
    }
  }
  return signers
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

/** One after the other, from the first letter to the last. */
const OPTION = /^([^=,"\s]+)(?:="([^"\\]*)")?(?:,(?=.)|$)/

function optionsIn(text: string): SignerOptions {
  const values = new Map<string, string>()
  for (let rest = text; rest !== ''; ) {
    const [whole = '', name = '', value = ''] = OPTION.exec(rest) ?? []
    const option = name.toLowerCase()
    if (option === '') throw new Failure('invalid', `the options cannot be read from ${quoted(rest)} on`)
    if (option === 'cert-authority') throw new Failure('invalid', 'cert-authority is not supported: name the keys themselves')
    if (!OPTIONS.includes(option)) throw new Failure('invalid', `the option ${quoted(name)} is not known`)
    if (values.has(option)) throw new Failure('invalid', `the option ${option} is there twice`)
    values.set(option, value)
    rest = rest.slice(whole.length)
  }
  const [namespaces, after, before] = OPTIONS.map((option) => values.get(option))
  const found: SignerOptions = {
    ...(namespaces !== undefined && { isForCommits: includesCommits(namespaces) }),
    ...(after !== undefined && { after: timeIn('valid-after', after) }),
    ...(before !== undefined && { before: timeIn('valid-before', before) }),
  }
  if (found.after !== undefined && found.before !== undefined && found.after >= found.before)
    throw new Failure('invalid', `valid-after="${after}" is not before valid-before="${before}": that is never`)
  return found
}

const OPTIONS = ['namespaces', 'valid-after', 'valid-before']

const quoted = (text: string): string => JSON.stringify(text.slice(0, 64))

function includesCommits(list: string): boolean {
  const names = list.split(',').map((name) => name.trim())
  const bad = names.find((name) => name !== '*' && !/^[A-Za-z0-9@._-]+$/.test(name))
  if (bad !== undefined)
    throw new Failure('invalid', `namespaces="${bad.slice(0, 64)}" is no list of whole names such as ${NAMESPACE}, or *`)
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
