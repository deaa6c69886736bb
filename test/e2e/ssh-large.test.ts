import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { equal, ok } from 'uvu/assert'
import { every, systemClock } from '../../src/std/index.ts'
import { lacksOpenSsh } from '../proxy/ssh-client.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { type SshSite, startSshSite, untilLetIn } from './pods/ssh-site.ts'

const MIB = 2 ** 20
const SIZE = 1024 * MIB
const WEB = 'web.team-a@berth'
/** Of all that the proxy, and the test beside it in this process, take more while a gigabyte passes. */
const MOST_MORE = 256 * MIB

describe(
  'a gigabyte over SSH',
  (it) => {
    let site: SshSite
    it.before(async () => {
      site = await startSshSite()
      await site.workspace('web', [await site.client.makeKey('key')])
      await untilLetIn(site, 'web')
    })
    it.after(() => site?.close())

    it('goes in and out by scp whole, in an image without an sftp-server, and the memory of the proxy is bounded', async () => {
      const { client } = site
      const [from, back] = [join(client.folder, 'large'), join(client.folder, 'large-back')]
      const file = await open(from, 'w')
      const piece = randomBytes(16 * MIB)
      for (let at = 0; at < SIZE; at += piece.length) {
        piece.writeUInt32BE(at / MIB)
        await file.write(piece)
      }
      await file.close()
      const digest = await digestOf(from)
      const copy = async (one: string, other: string) => {
        const [began, before] = [Date.now(), process.memoryUsage.rss()]
        let most = before
        const stopLooking = every(systemClock, 50, () => {
          most = Math.max(most, process.memoryUsage.rss())
        })
        const { code, stderr } = await client.run('scp', ['-q', one, other])
        await stopLooking()
        equal([code, stderr], [0, ''])
        const rate = SIZE / MIB / ((Date.now() - began) / 1000)
        console.log(
          `${rate.toFixed(0)} MB/s; resident ${Math.round(before / MIB)} MiB before, ${Math.round(most / MIB)} MiB at most`,
        )
        ok(most - before < MOST_MORE, `${(most - before) / MIB} MiB more`)
      }
      await copy(from, `${WEB}:large`)
      const { stdout } = await client.run('ssh', [WEB, 'sha256sum large'])
      equal(stdout.split(' ')[0], digest)
      await rm(from)
      await copy(`${WEB}:large`, back)
      equal(await digestOf(back), digest)
    })
  },
  (await lacksNode()) ?? lacksOpenSsh(),
)

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
