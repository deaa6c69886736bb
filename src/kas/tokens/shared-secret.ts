import { readNamed } from '../../adapters/files/index.ts'
import { Failure, Secret } from '../../std/index.ts'

/** Bytes. */
const ENOUGH = 32

/** Reads a secret that another program has too from the file that the flag names. */
export async function sharedSecret(file: string, flag: string): Promise<Secret<Uint8Array>> {
  const text = (await readNamed(file, flag)).toString('utf8')
  const bytes = /^[A-Za-z0-9+/]+={0,2}\s*$/.test(text) ? Buffer.from(text.trim(), 'base64') : Buffer.alloc(0)
  if (bytes.length >= ENOUGH) return new Secret<Uint8Array>(bytes)
  throw new Failure('invalid', `${file} does not hold the base64 of ${ENOUGH} bytes or more`, {
    remedy: 'Write it with: head -c 32 /dev/urandom | base64',
  })
}
