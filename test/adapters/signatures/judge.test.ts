import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { is, match, ok } from 'uvu/assert'
import { judge, type Keyring, readKeyring, type SignatureVerdict } from '../../../src/adapters/signatures/index.ts'
import { strings } from '../../../src/adapters/ssh/index.ts'
import { type Signer, signers } from '../../support/signers.ts'
import { describe } from '../../support/suite.ts'

const DAY = 86_400_000
const ID = 'a'.repeat(40)
const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']

const whyOf = (verdict: SignatureVerdict): string =>
  'why' in verdict ? `${verdict.reason}: ${verdict.why}` : `signed by ${verdict.signer}`

/** What no program can do without the device, which signs a digest of what it is shown. */
function securityKey(type: string) {
  const isEdwards = type.includes('ed25519')
  const pair = isEdwards ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' })
  const [left, right] = [x, y].map((half) => Buffer.from(half, 'base64url'))
  const point = isEdwards
    ? [left ?? '']
    : ['nistp256', Buffer.concat([Buffer.from([4]), left ?? '', right ?? ''].map((part) => Buffer.from(part)))]
  const digestOf = (data: Buffer | string) => createHash('sha256').update(data).digest()
  return {
    blob: strings(type, ...point, 'ssh:'),
    signatureOf(data: Buffer, flags: number, counter: number): Buffer {
      const rest = Buffer.from([flags, 0, 0, 0, counter])
      const shown = Buffer.concat([digestOf('ssh:'), rest, digestOf(data)])
      if (isEdwards) return Buffer.concat([strings(type, sign(null, shown, pair.privateKey)), rest])
      const both = sign('sha256', shown, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' })
      const numbers = [both.subarray(0, 32), both.subarray(32)].map((number) => Buffer.concat([Buffer.from([0]), number]))
      return Buffer.concat([strings(type, strings(...numbers)), rest])
    },
  }
}

describe('signatures of commits', (it) => {
  let people: Awaited<ReturnType<typeof signers>>
  let ann: Signer
  let work = ''
  let keyring: Keyring
  it.before(async () => {
    people = await signers()
    work = join(people.folder, 'work')
    await mkdir(work)
    git('init', '--quiet', '--initial-branch=main')
    ann = await people.ssh('ann@example.com')
    keyring = await readKeyring(new Map([['ann.pub', ann.public]]))
  })
  it.after(() => people.close())

  const git = (...words: string[]): Buffer => execFileSync('git', words, { cwd: work, stdio: ['ignore', 'pipe', 'pipe'] })
  /** A commit that the real git made. */
  const commitBy = (signer?: { sign: readonly string[] }, message = 'change', ...options: string[]) => {
    const words = [...(signer ? ['-S'] : []), '-m', message, ...options]
    git(...IDENTITY, ...(signer?.sign ?? []), 'commit', '--quiet', '--allow-empty', '--allow-empty-message', ...words)
    const id = String(git('rev-parse', 'HEAD')).trim()
    return { id, raw: git('cat-file', 'commit', id) }
  }
  const judged = async (raw: Buffer | string, ring = keyring, now = Date.now(), id = ID): Promise<string> =>
    whyOf(await judge({ id, raw: Buffer.from(raw) }, ring, now))
  const text = ({ raw }: { raw: Buffer }): string => raw.toString('latin1')
  const changed = (raw: Buffer, from: string | RegExp, to: string): Buffer => {
    const now = raw.toString('latin1').replace(from, to)
    ok(now !== raw.toString('latin1'), 'nothing was changed')
    return Buffer.from(now, 'latin1')
  }

  const TYPES: [type: string, bits: number | undefined][] = [
    ['ed25519', undefined],
    ['rsa', 3072],
    ['ecdsa', 256],
    ['ecdsa', 384],
    ['ecdsa', 521],
  ]
  for (const [type, bits] of TYPES)
    it(`are those of ssh-keygen: ${type} ${bits ?? ''}`, async () => {
      const signer = await people.ssh(`${type}@example.com`, type, bits)
      const ring = await readKeyring(new Map([['allowed_signers', `# ours\n"me@example.com,you@example.com" ${signer.public}`]]))
      // A number loses the zeros before it once in 256 times.
      for (let at = 0; at < 8; at++) {
        const { raw } = commitBy(signer)
        match(await judged(raw, ring), 'signed by me@example.com,you@example.com (')
        match(await judged(raw, ring), signer.fingerprint)
        match(await judged(changed(raw, 'change', 'chance'), ring), 'CommitSignatureInvalid: has no valid signature: what ')
      }
      match(await judged(commitBy(signer).raw), 'CommitSignerNotAllowed: is signed by')
    })

  for (const algorithm of ['ed25519', 'rsa3072', 'nistp256'])
    it(`are those of gpg: ${algorithm}`, async () => {
      const signer = await people.pgp('Gus <gus@example.com>', { algorithm })
      const other = await people.pgp('Other <other@example.com>')
      const ring = await readKeyring(new Map([['team.asc', `${other.public}\n${signer.public}`]]))
      const { raw } = commitBy(signer)
      is(await judged(raw, ring), `signed by Gus <gus@example.com> (PGP ${signer.fingerprint})`)
      match(await judged(changed(raw, 'change', 'chance'), ring), 'CommitSignatureInvalid: has no valid signature of Gus')
      match(await judged(raw), `CommitSignerNotAllowed: is signed by PGP key ${signer.fingerprint.slice(-16)}`)
    })

  it('are those of subkeys of gpg as well', async () => {
    const signer = await people.pgp('Sub <sub@example.com>')
    await signer.gpg('--passphrase', '', '--quick-add-key', signer.fingerprint, 'ed25519', 'sign', 'never')
    const ring = await readKeyring(new Map([['a.asc', await signer.gpg('--armor', '--export')]]))
    match(
      await judged(commitBy({ sign: signer.sign }).raw, ring),
      /signed by Sub <sub@example.com> \(PGP [0-9A-F]{40}, subkey [0-9A-F]{16}\)/,
    )
  })

  it('are judged by now: of a key that expires, and of one that is revoked', async () => {
    const signer = await people.pgp('Late <late@example.com>', { expires: '2d' })
    const { raw } = commitBy(signer)
    const before = signer.public
    const ring = async () => readKeyring(new Map([['a.asc', await signer.gpg('--armor', '--export')]]))
    match(await judged(raw, await ring()), 'signed by Late')
    match(await judged(raw, await ring(), Date.now() + 3 * DAY), /CommitSignerNotAllowed: is signed by Late .*expired/)
    await signer.gpg('--quick-set-expire', signer.fingerprint, '0')
    match(await judged(raw, await ring(), Date.now() + 3 * DAY), 'signed by Late')
    const both = await readKeyring(
      new Map([
        ['a.asc', before],
        ['b.asc', await signer.gpg('--armor', '--export')],
      ]),
    )
    match(await judged(raw, both, Date.now() + 3 * DAY), 'signed by Late')
    const stored = join(signer.home, 'openpgp-revocs.d', `${signer.fingerprint}.rev`)
    const certificate = join(people.folder, 'revocation')
    await writeFile(certificate, (await readFile(stored, 'utf8')).replace(':-----BEGIN', '-----BEGIN'))
    await signer.gpg('--import', certificate)
    match(await judged(raw, await ring()), /CommitSignerNotAllowed: is signed by Late .*revoked/)
  })

  it('are judged by now: by the times of an allowed signer, whatever the date of the commit', async () => {
    const { raw } = commitBy(ann, 'change', '--date=2001-01-01T00:00:00Z')
    const ring = (options: string) => readKeyring(new Map([['allowed_signers', `ann ${options} ${ann.public}`]]))
    const year = new Date().getUTCFullYear()
    match(await judged(raw, await ring(`valid-after="20010101",valid-before="${year + 2}0101Z"`)), 'signed by ann')
    match(await judged(raw, await ring(`valid-before="${year - 1}0101"`)), 'of ann, whose time is over or has not begun')
    match(await judged(raw, await ring(`valid-after="${year + 2}01010000Z"`)), 'of ann, whose time is over or has not begun')
    match(await judged(raw, await ring('namespaces="file,git"')), 'signed by ann')
    // Of two lines for one key the one counts that is good now.
    const both = `old valid-before="20010101" ${ann.public}new ${ann.public}`
    match(await judged(raw, await readKeyring(new Map([['allowed_signers', both]]))), 'signed by new')
  })

  it('say when there is none, also where a message looks like one', async () => {
    const signed = commitBy(ann)
    const [header = '', signature = ''] = /^[\s\S]*?(gpgsig [\s\S]*?END SSH SIGNATURE-----\n)/.exec(text(signed)) ?? []
    ok(header)
    is(await judged(commitBy().raw), 'CommitNotSigned: is not signed')
    is(await judged(commitBy(undefined, signature).raw), 'CommitNotSigned: is not signed')
    is(await judged(commitBy(undefined, `x\n\n${signature}`).raw), 'CommitNotSigned: is not signed')
    // Repositories of SHA-256 have theirs under another name, and nothing else counts there.
    is(await judged(signed.raw, keyring, Date.now(), 'b'.repeat(64)), 'CommitNotSigned: is not signed')
    match(await judged(changed(signed.raw, 'gpgsig ', 'gpgsig-sha256 '), keyring, Date.now(), 'b'.repeat(64)), 'signed by ann')
  })

  it('leave what else is signed in a commit in its place', async () => {
    git(...IDENTITY, 'checkout', '--quiet', '-b', 'side')
    commitBy(undefined, 'on the side')
    git(...IDENTITY, ...ann.sign, 'tag', '-s', '-m', 'tag', 'v1')
    git('checkout', '--quiet', 'main')
    commitBy(undefined, 'on main')
    git(...IDENTITY, ...ann.sign, 'merge', '--quiet', '--no-ff', '-S', '-m', 'merge', 'v1')
    const raw = git('cat-file', 'commit', 'HEAD')
    match(String(raw), '\nmergetag object')
    match(await judged(raw), 'signed by ann@example.com')
    match(await judged(changed(raw, ' tag v1', ' tag v2')), 'CommitSignatureInvalid')
  })

  it('are refused where they are no signature of this commit, each in its words', async () => {
    const { raw } = commitBy(ann)
    const other = commitBy(ann, 'another')
    const [signature = ''] = /gpgsig [\s\S]*?END SSH SIGNATURE-----\n/.exec(raw.toString('latin1')) ?? []
    const [another = ''] = /gpgsig [\s\S]*?END SSH SIGNATURE-----\n/.exec(text(other)) ?? []
    const cases: [Buffer, string][] = [
      [changed(raw, signature, another), 'signed is not this commit'],
      [changed(raw, signature, `${signature}${another}`), 'it has two of them'],
      [changed(raw, signature, `${signature}${signature}`), 'it has two of them'],
      [changed(raw, /\n (?=[A-Za-z0-9])/, '\r\n '), 'it is not written as ssh-keygen writes it'],
      [changed(raw, 'gpgsig -----BEGIN', 'gpgsig x-----BEGIN'), 'it is neither of SSH nor of PGP'],
      [changed(raw, ' -----END SSH', ` ${'QUJD'.repeat(2 ** 20)}\n -----END SSH`), 'bytes long; at most 65536 are read'],
      [changed(raw, ' -----END SSH', ' QUJD\n -----END SSH'), 'it is not written as ssh-keygen writes it'],
      [
        changed(raw, ' -----END SSH', ' -----END SSH SIGNATURE-----\n -----BEGIN SSH SIGNATURE-----\n -----END SSH'),
        'it is not written',
      ],
    ]
    for (const [forged, why] of cases) {
      const said = await judged(forged)
      match(said, /^CommitSignatureInvalid: has no valid signature/)
      match(said, why)
    }
    match(await judged(changed(raw, '\nauthor test', '\nauthor text')), 'signed is not this commit')
  })

  it('are refused where a header stands where Git would not see the parents behind it', async () => {
    const parent = String(git('rev-parse', 'HEAD')).trim()
    const { raw } = commitBy(ann)
    const [signature = ''] = /gpgsig [\s\S]*?END SSH SIGNATURE-----\n/.exec(raw.toString('latin1')) ?? []
    const without = changed(raw, signature, '')
    /** With the signature before the line that begins so. */
    const before = (name: string) => changed(without, `\n${name} `, `\n${signature}${name} `)
    /** Whatever git makes of it: the parents that it sees. */
    const parentsOf = (commit: Buffer) => {
      const id = execFileSync('git', ['hash-object', '--literally', '-t', 'commit', '-w', '--stdin'], {
        cwd: work,
        input: commit,
      })
      return String(git('log', '-1', '--format=%P', String(id).trim())).trim()
    }
    is(parentsOf(raw), parent)
    match(await judged(raw), 'signed by ann')
    const moved = before('parent')
    is(parentsOf(moved), '')
    const why = 'CommitSignatureInvalid: has no valid signature: its headers are not in the order in which Git reads them'
    for (const one of [moved, before('author'), before('committer'), Buffer.concat([Buffer.from(signature), without])])
      is(await judged(one), why)
    is(await judged(changed(raw, '\nauthor', '\nencoding UTF-8\nauthor')), why)
    is(await judged(changed(raw, '\nparent', '\n parent')), why)
    // Behind the committer a header may stand anywhere.
    const encoded = commitBy(ann, 'encoded')
    match(
      await judged(changed(encoded.raw, '\ngpgsig', '\nx-other 1\ngpgsig')),
      'CommitSignatureInvalid: has no valid signature: what',
    )
  })

  const SECURITY_KEYS = ['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com']
  for (const type of SECURITY_KEYS)
    it(`are those of a security key that was touched: ${type}`, async () => {
      const { blob, signatureOf } = securityKey(type)
      const ring = await readKeyring(new Map([['key.pub', `${type} ${blob.toString('base64')} ann`]]))
      const { raw } = commitBy()
      const by = (flags: number, counter = 7) => {
        const digest = createHash('sha512').update(raw).digest()
        const signed = Buffer.concat([Buffer.from('SSHSIG'), strings('git', '', 'sha512', digest)])
        const head = Buffer.concat([Buffer.from('SSHSIG'), Buffer.from([0, 0, 0, 1])])
        const body = Buffer.concat([head, strings(blob, 'git', '', 'sha512', signatureOf(signed, flags, counter))])
        const armor = ['-----BEGIN SSH SIGNATURE-----', body.toString('base64'), '-----END SSH SIGNATURE-----'].join('\n ')
        return changed(raw, '\n\n', `\ngpgsig ${armor}\n\n`)
      }
      match(await judged(by(1), ring), `signed by ann (${type} `)
      match(await judged(by(0), ring), 'CommitSignatureInvalid: has no valid signature: what ')
      match(await judged(changed(by(1), 'change', 'chance'), ring), 'CommitSignatureInvalid')
    })

  it('are refused where they were made for something else', async () => {
    const file = join(people.folder, 'payload')
    const { raw } = commitBy()
    await writeFile(file, raw)
    const signedFor = (...words: string[]) => {
      execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-f', ann.privateKeyFile, ...words, file])
      const signature = execFileSync('cat', [`${file}.sig`])
        .toString()
        .trimEnd()
        .replaceAll('\n', '\n ')
      execFileSync('rm', [`${file}.sig`])
      return changed(raw, '\n\n', `\ngpgsig ${signature}\n\n`)
    }
    match(await judged(signedFor('-n', 'file')), 'it was made for "file", and not for git')
    match(await judged(signedFor('-n', 'git')), 'signed by ann')
    match(await judged(signedFor('-n', 'git', '-O', 'hashalg=sha256')), 'signed by ann')
  })

  it('are refused where PGP is nested, broken or of more than one', async () => {
    const signer = await people.pgp('Nest <nest@example.com>')
    const ring = await readKeyring(new Map([['a.asc', signer.public]]))
    const { raw } = commitBy(signer)
    match(await judged(raw, ring), 'signed by Nest')
    const nested = changed(raw, ' -----END PGP', ' -----BEGIN PGP SIGNATURE-----\n \n -----END PGP')
    match(await judged(nested, ring), 'it is not one signature of PGP')
    match(await judged(changed(raw, /\n -----END PGP[^\n]*/, ''), ring), 'CommitSignatureInvalid')
    const broken = changed(raw, /(gpgsig -----BEGIN PGP SIGNATURE-----\n \n )(\S{8})/, '$1AAAAAAAA')
    match(await judged(broken, ring), 'CommitSignatureInvalid')
    const message = changed(raw, /PGP SIGNATURE/g, 'PGP MESSAGE')
    match(await judged(message, ring), 'it is neither of SSH nor of PGP')
    // A thousand of them cost no more than one: the others are never looked at.
    const key = await people.pgp('Many <many@example.com>')
    const many = await readKeyring(new Map([['a.asc', `${key.public.repeat(900)}${signer.public}`]]))
    match(await judged(raw, many), 'signed by Nest')
  })

  it('need keys that can be read, each with the file and line that cannot', async () => {
    const weak = await people.ssh('weak', 'rsa', 1024)
    const huge = { public: `ssh-rsa ${strings('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(1026, 1)).toString('base64')}` }
    const [type = '', blob = ''] = ann.public.split(' ')
    const cases: [Record<string, string>, RegExp][] = [
      [{}, /it has no public key/],
      [{ 'note.txt': ann.public }, /it has no public key/],
      [{ 'a.pub': 'hello' }, /its a\.pub: line 1: there is no public key where one is expected/],
      [{ allowed_signers: `ann ${ann.public}\nbob ssh-ed25519 AAAA` }, /its allowed_signers: line \d: /],
      [{ allowed_signers: `ann cert-authority ${ann.public}` }, /line 1: cert-authority is not supported/],
      [{ allowed_signers: `ann namespaces="git",cert-authority ${ann.public}` }, /cert-authority is not supported/],
      [{ allowed_signers: `ann namespaces="g*" ${ann.public}` }, /namespaces="g\*" is no list of whole names/],
      // All of these let ann sign files and nothing else, for who reads but a part of them.
      [{ allowed_signers: `ann "namespaces=file" ${ann.public}` }, /the options cannot be read from "\\"namespaces=file\\"" on/],
      [{ allowed_signers: `ann namespaces=file ${ann.public}` }, /the options cannot be read from "namespaces=file" on/],
      [{ allowed_signers: `ann namespaces="file"x ${ann.public}` }, /the options cannot be read from/],
      [{ allowed_signers: `ann namespaces="file",=,valid-after="20200101" ${ann.public}` }, /cannot be read from "=,valid/],
      [{ allowed_signers: `ann namespaces="file", ${ann.public}` }, /the options cannot be read from/],
      [{ allowed_signers: `ann namespaces="file",NAMESPACES="git" ${ann.public}` }, /the option namespaces is there twice/],
      [{ allowed_signers: `ann valid-before="20200101",valid-before="20400101" ${ann.public}` }, /valid-before is there twice/],
      [
        { allowed_signers: `ann valid-after="20300101",valid-before="20200101" ${ann.public}` },
        /is not before .*: that is never/,
      ],
      [{ allowed_signers: `ann valid-after="soon" ${ann.public}` }, /valid-after="soon" is no time/],
      [{ allowed_signers: `ann valid-after="20260231" ${ann.public}` }, /is no time/],
      [{ allowed_signers: `ann colour="red" ${ann.public}` }, /the option "colour" is not known/],
      [{ allowed_signers: `"ann ${ann.public}` }, /a quote has no end/],
      [{ allowed_signers: `ann namespaces="file" ${ann.public}` }, /it has no public key/],
      [{ 'a.pub': `ssh-rsa ${blob}` }, /the key is one of ssh-ed25519/],
      [{ 'a.pub': `${type}-cert-v01@openssh.com ${blob}` }, /certificates are not supported/],
      [{ 'a.pub': `ssh-dss ${Buffer.from('\0\0\0\x07ssh-dss').toString('base64')}` }, /keys of type "ssh-dss" are not supported/],
      [{ 'a.pub': weak.public }, /a key of RSA needs 2048 bits, and has 1024/],
      [{ 'a.asc': 'hello' }, /its a\.asc: there is no public key in it/],
      [{ 'a.asc': '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----' }, /its a\.asc: /],
      [{ 'a.asc': '-----BEGIN PGP PRIVATE KEY BLOCK-----' }, /there is no public key in it/],
      [{ 'a.pub': ann.public.repeat(1001) }, /it has 1001 public keys; at most 1000 are taken/],
      // They are counted before one is read.
      [{ 'a.pub': 'hello\n'.repeat(600), allowed_signers: 'hello\n'.repeat(600) }, /it has 1200 public keys/],
      [{ 'a.asc': '-----BEGIN PGP PUBLIC KEY BLOCK-----\n'.repeat(1001) }, /it has 1001 public keys/],
      [{ 'a.pub': huge.public }, /the key of RSA is too large/],
    ]
    for (const [files, why] of cases) {
      const said = await readKeyring(new Map(Object.entries(files))).then(
        () => 'it was taken',
        (thrown: Error) => thrown.message,
      )
      match(said, why)
    }
  })
})
