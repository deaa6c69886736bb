/** The real SOPS, in Go, of the version that go.mod in the folder beside this file names. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { buildGo, lacksGo } from './go-program.ts'

const REAL = { name: 'sops', package: 'github.com/getsops/sops/v3/cmd/sops' }
const SOURCE = join(import.meta.dirname, 'sops')

/** Why tests with it are left out. */
export const lacksSops = (): Promise<string | undefined> => lacksGo(SOURCE)

export interface Sops {
  /** What SOPS makes of a text that is in a file of this name, with these arguments beside `encrypt`. */
  encrypt(name: string, text: string | object, ...how: string[]): Promise<string>
  /** The same for a public key of PGP, as it is in a keyring. */
  encryptForPgp(ring: Uint8Array, fingerprint: string, name: string, text: string): Promise<string>
  /** The same by a rule of a `.sops.yaml`, for what no argument is for. */
  encryptBy(rule: object, name: string, text: string): Promise<string>
  run(words: readonly string[], files?: Record<string, string | Uint8Array>, env?: Record<string, string>): Promise<string>
}

export async function realSops(): Promise<Sops> {
  const program = await buildGo(SOURCE, REAL)
  /** In a folder of its own: SOPS looks for a configuration in all above it. */
  const run: Sops['run'] = async (words, files = {}, env = {}) => {
    const folder = await mkdtemp(join(tmpdir(), 'berth-sops-'))
    try {
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
      const { stdout } = await promisify(execFile)(program, words, {
        cwd: folder,
        env: { HOME: folder, ...env },
        maxBuffer: 2 ** 27,
      })
      return stdout
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return {
    run,
    encrypt: (name, text, ...how) =>
      run(['encrypt', ...how, name], { [name]: typeof text === 'string' ? text : JSON.stringify(text) }),
    encryptForPgp: (ring, fingerprint, name, text) =>
      run(['encrypt', '--pgp', fingerprint, name], { [name]: text, 'pubring.gpg': ring }, { GNUPGHOME: '.' }),
    encryptBy: (rule, name, text) =>
      run(['encrypt', name], { [name]: text, '.sops.yaml': JSON.stringify({ creation_rules: [rule] }) }),
  }
}

/** A key of age, as in a field of a Secret, and the recipient that it is. */
export async function ageKey(kind: 'classic' | 'hybrid' = 'classic'): Promise<{ key: string; recipient: string }> {
  const identity = await (kind === 'hybrid' ? generateHybridIdentity() : generateX25519Identity())
  const recipient = await identityToRecipient(identity)
  return { key: `# public key: ${recipient}\n${identity}\n`, recipient }
}
