import { beginningOf, Failure } from '../../std/index.ts'

/** Of a file that cannot be decrypted, and why. */
export const refusedFile = (source: string, what: string, remedy: string): Failure =>
  new Failure('invalid', `${beginningOf(source, 300)}: ${what}`, { reason: 'DecryptionFailed', remedy })
