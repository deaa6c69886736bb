import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { equal, is, match } from 'uvu/assert'
import { openKeys } from '../../../src/adapters/files/index.ts'
import { serveHttp } from '../../../src/adapters/http/index.ts'
import { createLog, minutes, silentLog } from '../../../src/std/index.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('certificates of listeners', (it) => {
  const pairs = [selfSigned('first.example.com', '127.0.0.1'), selfSigned('second.example.com', '127.0.0.1')] as const
  let folder = ''
  it.beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-keys-'))
    await write(pairs[0])
  })
  it.afterEach(() => rm(folder, { recursive: true }))

  const files = () => ({ certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') })
  const write = async ({ cert, key }: Partial<(typeof pairs)[0]>) => {
    if (cert) await writeFile(files().certificate, cert)
    if (key) await writeFile(files().key, key)
  }

  it('are renewed while the listener runs, and what does not fit together is waited for', async () => {
    const clock = steppedClock()
    const told: string[] = []
    const keys = await openKeys(files(), clock, createLog('info', { write: (line) => told.push(line) }))
    const server = await serveHttp({
      address: '127.0.0.1:0',
      tls: keys,
      respond: async () => ({ status: 200 }),
      clock,
      log: silentLog,
    })
    const shown = () => nameAt(server.address)
    is(await shown(), 'DNS:first.example.com, IP Address:127.0.0.1')

    await write({ cert: pairs[1].cert })
    await clock.step(minutes(1))
    await eventually(() => told.length === 1)
    match(told[0] ?? '', 'are not a certificate and the key to it')
    is(await shown(), 'DNS:first.example.com, IP Address:127.0.0.1')

    await write({ key: pairs[1].key })
    await clock.step(minutes(1))
    await eventually(() => told.length === 2)
    match(told[1] ?? '', 'The certificate was renewed')
    is(await shown(), 'DNS:second.example.com, IP Address:127.0.0.1')
    keys.stop()
    await server.stop(0)
    is(clock.waiting(), 0)
  })

  it('are refused at the start when the key is another one, or when there is none', async () => {
    await write({ cert: pairs[1].cert })
    equal(await refusal(), ['invalid', `${files().certificate} and ${files().key} are not a certificate and the key to it`])
    await rm(files().key)
    equal(await refusal(), ['not-found', `cannot read ${files().key}`])
  })

  const refusal = () =>
    openKeys(files(), steppedClock(), silentLog).then(
      () => undefined,
      ({ code, message }) => [code, message],
    )
})

/** For whom the certificate is made out that is shown there. */
async function nameAt(address: string): Promise<string | undefined> {
  const [host = '', port = ''] = address.split(':')
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subjectaltname } = socket.getPeerCertificate()
  socket.destroy()
  return subjectaltname
}
