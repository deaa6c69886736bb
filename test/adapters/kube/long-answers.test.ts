import * as assert from 'uvu/assert'
import { kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import { isFailure, Secret } from '../../../src/std/index.ts'
import { endlessServer, type StrangeServer, tellingServer } from '../../support/builders/strange-server.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'

const MEBIBYTE = 2 ** 20

describe('what a stranger answers line by line', (it) => {
  const strangers: StrangeServer[] = []
  it.afterEach(async () => {
    await Promise.all(strangers.splice(0).map((each) => each.close()))
  })

  /** The lengths of the lines of the answer, and why there are no more. */
  const listen = async (making: Promise<StrangeServer>) => {
    const server = await making
    strangers.push(server)
    const { url } = server
    const kube = kubeFromSecret(new Secret(kubeconfigFor(url)), { server: url, reach: undefined, insecureSkipTLSVerify: true })
    const lengths: number[] = []
    let end: unknown
    try {
      for await (const line of await kube.stream('/watch')) lengths.push(line.length)
    } catch (thrown) {
      end = thrown
    }
    await kube.close()
    return { server, lengths, end }
  }

  it('is cut off at a line without end', async () => {
    const { server, lengths, end } = await listen(endlessServer())
    assert.equal(lengths, [])
    assert.ok(isFailure(end, 'too-large'))
    assert.match(end.message, /the answer has more than 8388608 bytes/)
    assert.ok(server.seen < 1000, `${server.seen} blocks of 64 KiB were sent`)
  })

  it('is no more than its beginning where it is a refusal without end', async () => {
    const { server, end } = await listen(endlessServer(403))
    assert.ok(isFailure(end, 'forbidden'))
    assert.ok(end.message.length < 1000)
    assert.ok(server.seen < 100, `${server.seen} blocks of 64 KiB were sent`)
  })

  it('may be longer than any line may be', async () => {
    const { lengths, end } = await listen(tellingServer(`${'x'.repeat(MEBIBYTE)}\n`.repeat(20)))
    assert.is(end, undefined)
    assert.equal(
      lengths,
      Array.from({ length: 20 }, () => MEBIBYTE),
    )
  })

  it('comes in whole lines and characters, however it was cut into pieces, the last one without its end too', async () => {
    const { lengths, end } = await listen(tellingServer(`${'ü'.repeat(100_000)}\n\nlast`))
    assert.is(end, undefined)
    assert.equal(lengths, [100_000, 0, 4])
  })
})
