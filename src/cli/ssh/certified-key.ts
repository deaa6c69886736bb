import { resolve } from 'node:path'
import { SSH_GROUPS } from '../../api/index.ts'
import { Failure, Secret, systemClock } from '../../std/index.ts'
import { fileAt } from '../options.ts'
import type { Shell } from '../shell.ts'
import { makeFolder, readPlain, sshFilesOf, writeWhole } from './files.ts'

/** A key that is to be certified. */
export interface CertifiedKey {
  /** Of the private half, for OpenSSH; it need not be a file where an agent has it. */
  file: string
  /** OpenSSH looks for it there. */
  certificate: string
  /** The second word of its public line. */
  blob: string
}

/** The key whose public half the person names, or that of Berth, which is made at the first time. */
export async function certifiedKeyOf(shell: Shell, named: string | undefined): Promise<CertifiedKey> {
  return named === undefined ? ownKey(shell) : namedKey(shell, named)
}

const LINE = /^ssh-ed25519 ([A-Za-z0-9+/]{68})(?:\s|$)/
const END = '.pub'

function namedKey(shell: Shell, named: string): CertifiedKey {
  const [, blob] = LINE.exec(fileAt(shell, '--key', named).toString('utf8')) ?? []
  if (blob === undefined || !named.endsWith(END))
    throw new Failure('invalid', `--key: ${named} is no public key of ed25519`, {
      remedy: 'Name the file that ends in .pub; `ssh-keygen -t ed25519` makes such a key. Other kinds are not certified.',
    })
  const file = resolve(shell.cwd, named.slice(0, -END.length))
  return { file, certificate: certificateOf(file), blob }
}

/** Throws `conflict` where another certificate than one of ours for this key lies there: somebody else's lets into other hosts, and stays. */
export async function refuseOthers({ certificate, blob }: CertifiedKey): Promise<void> {
  const there = await readPlain(certificate)
  if (there === '') return
  const { readUnprovedCertificate } = await import('../../adapters/ssh/index.ts')
  const [, text = ''] = there.split(' ')
  try {
    const { key, extensions } = readUnprovedCertificate(Buffer.from(text, 'base64'))
    if (key.blob === blob && extensions.has(SSH_GROUPS)) return
  } catch {
    // Not one of ours, whatever it is.
  }
  throw new Failure('conflict', `${certificate} is no certificate for this key by Berth, and left alone.`, {
    remedy: 'Move it away, or leave --key out: then a key of its own is certified.',
  })
}

/** Whether a certificate lies there whose time has passed. One that is not read here is OpenSSH's to judge. */
export async function isOver(certificate: string): Promise<boolean> {
  const { readUnprovedCertificate } = await import('../../adapters/ssh/index.ts')
  try {
    const [, text = ''] = (await readPlain(certificate)).split(' ')
    return readUnprovedCertificate(Buffer.from(text, 'base64')).until <= systemClock.now()
  } catch {
    // Of another kind, without an end, or a link.
    return false
  }
}

async function ownKey(shell: Shell): Promise<CertifiedKey> {
  const { folder, ourFolder, identity: file } = sshFilesOf(shell)
  const { createKeyPair, keyPairFrom } = await import('../../adapters/ssh/index.ts')
  await makeFolder(folder)
  await makeFolder(ourFolder)
  const there = await readPlain(file)
  const pair = there === '' ? createKeyPair() : await readable(file, () => keyPairFrom(new Secret(there)))
  const line = `${pair.line} berth\n`
  if (there === '') await writeWhole(file, pair.secret.reveal(), there, true)
  await writeWhole(`${file}${END}`, line, await readPlain(`${file}${END}`), true)
  return { file, certificate: certificateOf(file), blob: pair.line.split(' ')[1] ?? '' }
}

async function readable<T>(file: string, read: () => T): Promise<T> {
  try {
    return read()
  } catch (cause) {
    throw new Failure('invalid', `${file} is no private key of ed25519 without a passphrase`, {
      cause,
      remedy: 'Name its public half with --key, or take it away: another one is made then.',
    })
  }
}

/** As ssh-keygen calls them. */
export const certificateOf = (file: string): string => `${file}-cert.pub`
