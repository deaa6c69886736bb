import { equal, is, match, ok, throws } from 'uvu/assert'
import { createClipped, createWhole } from '../../../src/cli/mcp/clipped.ts'
import { pageOf } from '../../../src/cli/mcp/file-tools.ts'
import { createIdReader } from '../../../src/cli/mcp/process-id.ts'
import { describe } from '../../support/suite.ts'

const MEBIBYTE = 2 ** 20

describe('what berth mcp keeps of the words of a container', (it) => {
  it('is the beginning and the end, in pieces of any size', () => {
    const all = Buffer.from(Array.from({ length: 1000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(''))
    for (const most of [40, 41, 100, 999, 1000, 1001])
      for (const piece of [1, 2, 7, 30, 31, 75, 300, 1000]) {
        const kept = createClipped(most)
        for (let at = 0; at < all.length; at += piece) kept.add(all.subarray(at, at + piece))
        const head = Math.floor(most / 4)
        const left = all.length - most
        const cut = `${all.subarray(0, head)}\n[... ${left} bytes are left out here ...]\n${all.subarray(head - most)}`
        is(kept.text(), left > 0 ? cut : all.toString(), `${most} ${piece}`)
        equal([kept.size(), kept.isCut()], [1000, left > 0])
      }
  })

  it('takes no more memory for a byte at a time', () => {
    const kept = createClipped(MEBIBYTE)
    const before = process.memoryUsage()
    for (let at = 0; at < MEBIBYTE; at += 1) kept.add(Buffer.of(120))
    const { heapUsed, external } = process.memoryUsage()
    ok(kept.text() === 'x'.repeat(MEBIBYTE))
    ok(heapUsed + external - before.heapUsed - before.external < 64 * MEBIBYTE, 'it holds each piece')
  })

  it('has no half of a character', () => {
    for (let before = 0; before < 8; before += 1)
      for (const character of ['ü', '€', '😀']) {
        const kept = createClipped(40)
        kept.add(Buffer.from(`${'x'.repeat(before)}${character.repeat(100)}`))
        is(kept.text().includes('\ufffd'), false, kept.text())
        const left = Number(/(\d+) bytes/.exec(kept.text())?.[1])
        const said = kept.text().replace(/\n.*\n/, '')
        is(left + Buffer.byteLength(said), kept.size())
      }
  })

  it('is all of a file, or nothing', () => {
    const whole = createWhole(10)
    for (let at = 0; at < 10; at += 1) whole.add(Buffer.of(48 + at))
    is(whole.bytes().toString(), '0123456789')
    throws(() => whole.add(Buffer.of(0)), /more than 10 bytes/)
  })

  it('leaves half of a character to the next page only where there is one', () => {
    const half = Buffer.concat([Buffer.alloc(MEBIBYTE - 1, 'x'), Buffer.from('ü')])
    const first = pageOf(half)
    equal([first.length, first.encoding, first.hasMore], [MEBIBYTE - 1, 'utf-8', true])
    const only = pageOf(half.subarray(0, MEBIBYTE))
    equal([only.length, only.encoding, only.hasMore], [MEBIBYTE, 'base64', false])
  })

  it('begins with a process id, in pieces of any size', async () => {
    for (const piece of [1, 2, 5, 100]) {
      const id = createIdReader()
      const said = Buffer.from('1234\n5678\n')
      const rest: Buffer[] = []
      for (let at = 0; at < said.length; at += piece) rest.push(id.pass(said.subarray(at, at + piece)))
      await id.arrived
      equal([id.read(), Buffer.concat(rest).toString()], ['1234', '5678\n'])
    }
    for (const wrong of ['x\n', '\n', '12 34\n', '12345678901\n', '1'.repeat(16)])
      throws(() => createIdReader().pass(Buffer.from(wrong)), /does not say a process id first/)
    const endless = createIdReader()
    throws(() => {
      for (let at = 0; at < 16; at += 1) match(endless.pass(Buffer.from('1')).toString(), /^$/)
    }, /does not say a process id first/)
    is(endless.read(), undefined)
  })
})
