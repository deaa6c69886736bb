import { createDecipheriv } from 'node:crypto'

/** What stands behind a value that SOPS has encrypted. */
export interface Plain {
  /** What was encrypted, as it counts for the code of authentication. */
  bytes: Buffer
  type: string
}

const BEGIN = 'ENC[AES256_GCM,'
const PARTS = ['data', 'iv', 'tag', 'type']
/** Of a tag, of a data key, and of the most that is read of an initialization vector: SOPS itself takes 32. */
const TAG = 16
export const KEY = 32
const MOST_IV = 64

export const isEncryptedValue = (text: string): boolean => text.startsWith(BEGIN) && text.endsWith(']')

/** The value; `undefined` where it is damaged, belongs to another place, or is encrypted for another data key. */
export function decryptValue(text: string, dataKey: Uint8Array, path: string): Plain | undefined {
  const fields = text.slice(BEGIN.length, -1).split(',')
  const [data, iv, tag, type = ''] = PARTS.map((name, at) => {
    const field = fields[at] ?? ''
    return field.startsWith(`${name}:`) ? field.slice(name.length + 1) : ''
  })
  const [content, vector, mark] = [data, iv, tag].map(bytesIn)
  if (!content || !vector || !mark) return undefined
  if (fields.length !== PARTS.length || dataKey.length !== KEY || mark.length !== TAG) return undefined
  if (vector.length > MOST_IV) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', dataKey, vector, { authTagLength: TAG })
    decipher.setAAD(Buffer.from(path)).setAuthTag(mark)
    return { bytes: Buffer.concat([decipher.update(content), decipher.final()]), type }
  } catch {
    // Node says no more than that it does not fit.
    return undefined
  }
}

/** Node takes other letters too, and leaves out what it does not know: two texts would be one value. */
function bytesIn(text = ''): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined
}

/** As a value of JSON; `undefined` for a comment, which is none, and for what is not of its type. */
export function plainValueOf({ bytes, type }: Plain): string | number | boolean | undefined {
  const text = bytes.toString('utf8')
  if (type === 'int' || type === 'float') {
    const number = Number(text)
    const isExact = type === 'float' || (Number.isSafeInteger(number) && text.trim() === text && text !== '')
    return isExact && Number.isFinite(number) ? number : undefined
  }
  if (type === 'bool') return BOOLEANS.get(text.toLowerCase())
  return type === 'comment' ? undefined : text
}

const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
])

/** As Go writes them for the code of authentication: no exponent in a number, and a capital letter in a truth. */
export function macTextOf(value: string | number | boolean): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  const [digits = '', exponent] = String(value).split('e')
  if (exponent === undefined) return digits
  const sign = digits.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.')
  const point = whole.length + Number(exponent)
  const all = whole + fraction
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${all}`
  return point >= all.length ? sign + all + '0'.repeat(point - all.length) : `${sign}${all.slice(0, point)}.${all.slice(point)}`
}
