import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Somebody who signs commits. */
export interface Signer {
  /** Settings with which git has them sign. */
  sign: readonly string[]
  /** The public key, as `*.pub` or `*.asc` has it. */
  public: string
  /** Of a key of SSH. */
  privateKeyFile: string
  /** As `ssh-keygen -l` and `gpg --fingerprint` show it, without blanks. */
  fingerprint: string
}

/** Makes keys with the real ssh-keygen and gpg, in a folder that `close` takes away. */
export async function signers() {
  const folder = await mkdtemp(join(tmpdir(), 'berth-signers-'))
  const homes: string[] = []
  let made = 0
  return {
    folder,
    async ssh(comment: string, type = 'ed25519', bits?: number): Promise<Signer> {
      const file = join(folder, `ssh-${made++}`)
      await run('ssh-keygen', ['-q', '-t', type, ...(bits ? ['-b', String(bits)] : []), '-N', '', '-C', comment, '-f', file])
      const { stdout } = await run('ssh-keygen', ['-l', '-f', `${file}.pub`])
      return {
        sign: ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${file}`],
        public: await readFile(`${file}.pub`, 'utf8'),
        privateKeyFile: file,
        fingerprint: stdout.split(' ')[1] ?? '',
      }
    },
    /** `expires` as gpg takes it, such as `never` or `seconds=1`; `gpg` runs it on this signer's keys. */
    async pgp(holder: string, { algorithm = 'ed25519', expires = 'never' } = {}) {
      const home = join(folder, `g${made++}`)
      homes.push(home)
      await mkdir(home, { mode: 0o700 })
      const gpg = async (...words: string[]) => (await run('gpg', ['--homedir', home, '--batch', '--yes', ...words])).stdout
      await gpg('--quiet', '--passphrase', '', '--quick-generate-key', holder, algorithm, 'sign', expires)
      const program = join(home, 'program')
      await writeFile(program, `#!/bin/sh\nexec gpg --homedir '${home}' "$@"\n`)
      await chmod(program, 0o700)
      const listed = await gpg('--with-colons', '--list-keys')
      const fingerprint = /^fpr:+([0-9A-F]+):/m.exec(listed)?.[1] ?? ''
      const sign = ['-c', `gpg.program=${program}`, '-c', `user.signingkey=${fingerprint}`]
      return { sign, public: await gpg('--armor', '--export'), privateKeyFile: '', fingerprint, gpg, home }
    },
    async close() {
      for (const home of homes) await run('gpgconf', ['--homedir', home, '--kill', 'all'])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
