import { readFileSync } from 'node:fs'
import { equal, is, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'

const sheet = readFileSync(new URL('../../static/base.css', import.meta.url), 'utf8')
const [light = '', dark = ''] = [...sheet.matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) => block)

const coloursIn = (block: string): Map<string, string> =>
  new Map([...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [name, colour]))

/** https://www.w3.org/TR/WCAG21/#dfn-relative-luminance */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.039_28 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminanceOf(a), luminanceOf(b)].sort((one, other) => one - other)
  return (high + 0.05) / (low + 0.05)
}

describe('the colours of the dashboard', (it) => {
  for (const [name, block] of Object.entries({ light, dark })) {
    const colours = coloursIn(block)
    const of = (colour: string) => colours.get(colour) ?? '#000000'
    it(`can be read in ${name}`, () => {
      is(colours.size, 14)
      for (const ground of ['ground', 'card']) {
        for (const text of ['text', 'faint', 'link', 'good', 'busy', 'off', 'bad'])
          ok(contrast(of(text), of(ground)) >= 4.5, `${text} on ${ground}: ${contrast(of(text), of(ground))}`)
        for (const edge of ['edge', 'focus', 'main'])
          ok(contrast(of(edge), of(ground)) >= 3, `${edge} on ${ground}: ${contrast(of(edge), of(ground))}`)
      }
      ok(contrast(of('on-main'), of('main')) >= 4.5)
    })
  }

  it('are named once, and move nothing for whoever wants that', () => {
    equal([...sheet.replaceAll(/:root \{[^}]*\}/g, '').matchAll(/#[0-9a-f]{3,8}\b|rgb|hsl|url\(|@import/g)], [])
    const moving = sheet.replace(/@media \(prefers-reduced-motion: no-preference\) \{[\s\S]*?\n\}/, '')
    equal([...moving.matchAll(/^\s*(animation|transition)/gm)], [])
    ok(!/outline: none/.test(sheet.replace('main:focus {\n  outline: none;\n}', '')))
  })
})
