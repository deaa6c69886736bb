import { equal, is, ok } from 'uvu/assert'
import { createFinder } from '../../../src/engines/gitops/preview/finder.ts'
import { hiding } from '../../../src/engines/gitops/preview/hidden.ts'
import { type Dice, dice, runSeed } from '../../support/dice.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const MASK = '***'
const LONG = 4
const ROUNDS = 3000

const upTo = <T>(count: number, one: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => one(index))

/** Of so few letters that the texts overlap, contain one another and begin alike. */
const textOf = (roll: Dice, letters: string, most: number): string =>
  upTo(1 + roll(most), () => letters.charAt(roll(letters.length))).join('')

/** One search for each secret, the longest first, as it was done before; a mask is as long as what it hides. */
function maskedOneByOne(text: string, secrets: readonly string[]): string {
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length)
  const hide = (hidden: string) => '\0'.repeat(hidden.length)
  const long = longestFirst.filter(({ length }) => length >= LONG)
  const whole = long.reduce((left, secret) => left.replaceAll(secret, hide), text)
  const alone = whole.replace(/[\p{L}\p{N}_]+/gu, (word) => (word.length < LONG && secrets.includes(word) ? hide(word) : word))
  const dots = ['…', '...'].find((end) => alone.endsWith(end))
  if (dots === undefined) return alone
  const said = alone.slice(0, -dots.length)
  for (const secret of long)
    for (let length = Math.min(secret.length - 1, said.length); length >= LONG; length--)
      if (said.endsWith(secret.slice(0, length))) return `${said.slice(0, -length)}${'\0'.repeat(length)}${dots}`
  return alone
}

/** Whether everything that is shown was shown before as well, in this order. */
function isShownIn(shown: string, before: string): boolean {
  let at = 0
  return shown.split(MASK).every((piece) => {
    const found = before.indexOf(piece, at)
    at = found + piece.length
    return found >= 0
  })
}

describe('hiding in any text', (it) => {
  it('finds every place where one of many texts stands, and no other', () => {
    const roll = dice(runSeed)
    for (let round = 0; round < ROUNDS; round++) {
      const texts = upTo(1 + roll(8), () => textOf(roll, 'abc', 6))
      const text = textOf(roll, 'abcd', 60)
      const hidden = upTo(text.length, () => false)
      for (const each of texts)
        for (let at = text.indexOf(each); at >= 0; at = text.indexOf(each, at + 1)) hidden.fill(true, at, at + each.length)
      const found = upTo(text.length, () => false)
      for (const [from, to] of createFinder(texts).find(text)) found.fill(true, from, to)
      equal(found, hidden, `${texts} in ${text}`)
    }
  })

  it('masks in sentences whatever one search for each secret masked', () => {
    const roll = dice(runSeed + 1)
    for (let round = 0; round < ROUNDS; round++) {
      const secrets = upTo(1 + roll(8), () => textOf(roll, 'ab1', 9))
      const text = textOf(roll, 'ab1 ', 60) + (['…', '...', ''][roll(3)] ?? '')
      const shown = hiding(new Set(secrets)).text(text)
      const before = maskedOneByOne(text, secrets)
      ok(isShownIn(shown, before), `${secrets} in "${text}": "${shown}", and before "${before.replaceAll('\0', '*')}"`)
    }
  })

  it('masks in values whatever one search for each secret masked, and leaves others the same', () => {
    const roll = dice(runSeed + 2)
    for (let round = 0; round < ROUNDS; round++) {
      const secrets = upTo(1 + roll(4), () => textOf(roll, 'ab', 9))
      const inner = textOf(roll, 'abc ', 20)
      const hide = hiding(new Set(secrets))
      const shown = hide.value(inner)
      for (const secret of secrets) ok(!String(shown).includes(secret), `${secret} in "${shown}"`)
      const value = { list: [inner, { text: 'c' }] }
      equal(hide.value(value), { list: [shown, { text: 'c' }] })
      if (shown === inner) is(hide.value(value), value)
    }
  })

  it('masks secrets that overlap, and the beginning of the longest where a text was shortened', () => {
    const hide = hiding(new Set(['abcdef', 'defghi', 'hunter2-long', 'long-and-more']))
    is(hide.text('x abcdefghi y'), 'x *** y')
    is(hide.text('hunter2-long-an…'), '***…')
    is(hide.text('hunter2-long-an'), '***-an')
    is(hide.value('abcdefghi'), MASK)
  })

  // With a search for each, a megabyte took more than a second, in which nothing else was done.
  it('takes little more time for two thousand secrets than for two', () => {
    const roll = dice(runSeed + 3)
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    const secrets = upTo(2000, () => upTo(8, () => letters.charAt(roll(letters.length))).join(''))
    const dense = upTo(50_000, () => secrets[roll(secrets.length)]?.slice(0, 7)).join('-')
    const spentOn = (count: number, search: (text: string) => unknown): number => {
      const spent = effort()
      for (let turn = 0; turn < count; turn++) search(dense)
      return spent()
    }
    const [few, many] = [secrets.slice(0, 2), secrets].map((some) => hiding(new Set(some)))
    for (const search of ['value', 'text'] as const) {
      const base = spentOn(4, (text) => few?.[search](text))
      const spent = spentOn(4, (text) => many?.[search](text))
      ok(spent < 20 * base + 200, `${search}: ${spent} ms for two thousand, ${base} ms for two`)
    }
  })

  it('takes no longer for secrets that begin alike', () => {
    const roll = dice(runSeed + 4)
    const alike = new Set(upTo(1000, () => 'a'.repeat(200) + textOf(roll, 'bcdefgh', 60)))
    const hide = hiding(alike)
    const text = 'a'.repeat(400_000)
    const spent = effort()
    is(hide.text(text), text)
    is(hide.text(`${text}…`), `${text.slice(200)}${MASK}…`)
    ok(spent() < 2000, `${spent()} ms`)
  })

  it('shows nothing at all where the secrets are very large', () => {
    const hide = hiding(new Set(['x'.repeat(600_000)]))
    is(hide.text('ConfigMap a is not there'), MASK)
    is(hide.value('y'), MASK)
  })
})
