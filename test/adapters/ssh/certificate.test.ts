import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, match, ok } from 'uvu/assert'
import {
  createKeyPair,
  readCertificate,
  readUnprovedCertificate,
  signCertificate,
  type UserCertificate,
} from '../../../src/adapters/ssh/index.ts'
import { lacksOpenSsh } from '../../proxy/ssh-client.ts'
import { describe } from '../../support/suite.ts'

const SINCE = Date.parse('2026-11-30T08:00:00Z')
const UNTIL = Date.parse('2026-11-30T16:00:00Z')

const authority = createKeyPair()
const holder = createKeyPair()
const [type = '', blob = ''] = holder.line.split(' ')
const said = {
  ...{ key: { type, blob }, keyId: 'ada@example.com', principals: ['ada@example.com'], since: SINCE, until: UNTIL },
  extensions: new Map([
    ['permit-pty', ''],
    ['groups@berth.dev', '["staff"]'],
  ]),
}
const made = (): Buffer => Buffer.from(signCertificate(authority, said).text, 'base64')

describe('a certificate for SSH', (it) => {
  it('is read as it was signed', () => {
    const read = readCertificate(made(), authority.line)
    ok(typeof read !== 'string', String(read))
    const { serial, criticalOptions, extensions, ...others } = read as UserCertificate
    const { extensions: given, ...same } = said
    equal(others, same)
    equal([...extensions].toSorted(), [...given].toSorted())
    equal([typeof serial, criticalOptions.size], ['bigint', 0])
  })

  it('is none of another authority', () => {
    is(readCertificate(made(), createKeyPair().line), 'another authority signed it')
    equal(readUnprovedCertificate(made()).key, said.key)
  })

  it('is none with a byte less, a byte more or another byte, and nothing is thrown', () => {
    const whole = made()
    for (let length = 0; length < whole.length; length++)
      is(typeof readCertificate(whole.subarray(0, length), authority.line), 'string', `${length} bytes`)
    is(readCertificate(Buffer.concat([whole, Buffer.of(0)]), authority.line), 'there is more behind it')
    for (let at = 0; at < whole.length; at++)
      for (const other of [1, 0x80]) {
        const changed = Buffer.from(whole)
        changed.writeUInt8(changed.readUInt8(at) ^ other, at)
        is(typeof readCertificate(changed, authority.line), 'string', `byte ${at}`)
      }
  })

  it('is not looked for in what is long, or says that it is', () => {
    is(readCertificate(Buffer.alloc(2 ** 20), authority.line), 'it is too long')
    const whole = made()
    for (const length of [0x7f_ff_ff_ff, 0xff_ff_ff_ff]) {
      const changed = Buffer.from(whole)
      changed.writeUInt32BE(length, 0)
      is(readCertificate(changed, authority.line), 'it ends too early')
    }
    for (let time = 0; time < 500; time++) is(typeof readCertificate(randomBytes(300), authority.line), 'string')
  })
})

describe(
  'a certificate that ssh-keygen has signed or shows',
  (it) => {
    let folder = ''
    const at = (name: string) => join(folder, name)
    const keygen = async (...words: string[]) => (await promisify(execFile)('ssh-keygen', words)).stdout
    it.before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'berth-certificate-'))
      await writeFile(at('ca'), authority.secret.reveal(), { mode: 0o600 })
    })
    it.after(() => rm(folder, { recursive: true }))
    const signed = async (...words: string[]) => {
      await writeFile(at('key.pub'), `${holder.line}\n`)
      await keygen('-q', '-s', at('ca'), '-I', 'ada', '-n', 'ada', '-V', '+1h', ...words, at('key.pub'))
      const [, text = ''] = (await readFile(at('key-cert.pub'), 'utf8')).split(' ')
      return readCertificate(Buffer.from(text, 'base64'), authority.line)
    }

    it('is shown with all that was signed', async () => {
      await writeFile(at('shown-cert.pub'), `ssh-ed25519-cert-v01@openssh.com ${made().toString('base64')}\n`)
      const shown = await keygen('-L', '-f', at('shown-cert.pub'))
      match(shown, 'Type: ssh-ed25519-cert-v01@openssh.com user certificate')
      match(shown, 'Key ID: "ada@example.com"')
      match(shown, /Principals: \n +ada@example.com\n +Critical Options: \(none\)/)
      match(shown, /Extensions: \n +groups@berth.dev UNKNOWN OPTION.*\n +permit-pty/)
      match(shown, 'using ssh-ed25519')
    })

    it('is read with its options', async () => {
      const read = await signed('-z', '7', '-O', 'clear', '-O', 'force-command=id', '-O', 'extension:groups@berth.dev=[]')
      ok(typeof read !== 'string', String(read))
      const { serial, criticalOptions, extensions } = read as UserCertificate
      equal([serial, [...criticalOptions], [...extensions]], [7n, [['force-command', 'id']], [['groups@berth.dev', '[]']]])
    })

    it('is none for a host, without an end, or for a key of another kind', async () => {
      is(await signed('-h'), 'it is for no user')
      is(await signed('-V', 'always:forever'), 'it has no end')
      await keygen('-q', '-t', 'ecdsa', '-N', '', '-f', at('other'))
      await keygen('-q', '-s', at('ca'), '-I', 'ada', '-n', 'ada', '-V', '+1h', at('other.pub'))
      const [, text = ''] = (await readFile(at('other-cert.pub'), 'utf8')).split(' ')
      is(readCertificate(Buffer.from(text, 'base64'), authority.line), 'it is of another type')
    })
  },
  lacksOpenSsh(),
)
