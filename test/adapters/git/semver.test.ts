import { is, throws } from 'uvu/assert'
import { highestTag, parseRange, versionOf } from '../../../src/adapters/git/semver.ts'
import { describe } from '../../support/suite.ts'

const isIn = (range: string, tag: string): boolean => {
  const version = versionOf(tag)
  return version !== undefined && parseRange(range)(version)
}

describe('ranges of versions', (it) => {
  const CASES: [range: string, inside: string, outside: string][] = [
    ['1.2.3', '1.2.3 v1.2.3 1.2.3+build', '1.2.4 1.2.2 1.2.3-rc.1'],
    ['=1.2', '1.2.0 1.2.9', '1.3.0 1.1.9'],
    ['v1', '1.0.0 1.99.0', '2.0.0 0.9.9'],
    ['1.x', '1.0.0 1.99.0', '2.0.0 0.9.9 1.5.0-beta'],
    ['1.2.*', '1.2.0 1.2.7', '1.3.0'],
    ['1.x.2', '1.0.0 1.9.9', '2.0.2'],
    ['*', '0.0.0 9.9.9', '1.0.0-rc.1'],
    ['>=1.2.0 <2.0.0', '1.2.0 1.99.9', '1.1.9 2.0.0 2.0.0-rc.1'],
    ['>=1.2.0, <2.0.0', '1.2.0 1.99.9', '1.1.9 2.0.0'],
    ['>= 1.2.0 < 2.0.0', '1.2.0', '2.0.0'],
    ['>1.2', '1.3.0 2.0.0', '1.2.0 1.2.9'],
    ['>1.2.3', '1.2.4', '1.2.3'],
    ['>1', '2.0.0', '1.9.9'],
    ['<=1.2', '1.2.9 0.1.0', '1.3.0'],
    ['=<1.2.3', '1.2.3', '1.2.4'],
    ['<1.2', '1.1.9', '1.2.0'],
    ['=>1.2', '1.2.0', '1.1.9'],
    ['!=1.2.3', '1.2.4 1.2.2', '1.2.3'],
    ['1.x !=1.2', '1.1.0 1.3.0', '1.2.5 2.0.0'],
    ['~1.2.3', '1.2.3 1.2.9', '1.2.2 1.3.0'],
    ['~1.2', '1.2.0 1.2.9', '1.3.0'],
    ['~1', '1.0.0 1.9.0', '2.0.0'],
    ['~>1.2.3', '1.2.9', '1.3.0'],
    ['^1.2.3', '1.2.3 1.9.0', '1.2.2 2.0.0'],
    ['^0.2.3', '0.2.3 0.2.9', '0.3.0 0.2.2'],
    ['^0.0.3', '0.0.3', '0.0.4 0.0.2'],
    ['^0.0', '0.0.0 0.0.9', '0.1.0'],
    ['^0', '0.0.0 0.9.0', '1.0.0'],
    ['^1.x', '1.0.0 1.9.0', '2.0.0'],
    ['1.2 - 1.4', '1.2.0 1.4.9', '1.1.9 1.5.0'],
    ['1.2.3 - 1.4.5', '1.2.3 1.4.5', '1.2.2 1.4.6'],
    ['1.x || 3.x', '1.5.0 3.0.1', '2.0.0'],
    ['>=1.0.0-0', '1.0.0-rc.1 1.0.0 2.0.0-alpha', '0.9.9'],
    ['^1.2.3-beta.2', '1.2.3-beta.2 1.2.3-beta.10 1.2.3 1.9.0 1.9.0-rc.1', '1.2.3-beta.1 2.0.0-alpha 2.0.0'],
    ['>=1.0.0-0 <2.0.0', '1.5.0', '1.5.0-rc.1'],
    ['>=1.0.0-0 !=1.5.0-rc.1', '1.5.0-rc.2 1.5.0', '1.5.0-rc.1 0.9.0'],
    ['1.x || >=2.0.0-0 <3.0.0-0', '1.5.0 2.5.0-rc.1', '1.5.0-rc.1 3.0.0-rc.1'],
    ['>=1.0.0-0 <2.0.0-0', '1.5.0 1.5.0-rc.1', '2.0.0-alpha 2.0.0'],
    ['1.0.0-rc.1', '1.0.0-rc.1', '1.0.0 1.0.0-rc.2'],
  ]
  for (const [range, inside, outside] of CASES) {
    it(`${range} has ${inside}, and not ${outside}`, () => {
      for (const tag of inside.split(' ')) is(isIn(range, tag), true, tag)
      for (const tag of outside.split(' ')) is(isIn(range, tag), false, tag)
    })
  }

  for (const text of [
    '',
    '||',
    '1.x ||',
    'latest',
    '>=',
    '1.2.3.4',
    '1.2-rc',
    '1.2.x-0',
    '1.2.3-01',
    '*1.2.3',
    '==1.2.3',
    '^=1.2.3',
    '>=1.2.0<2.0.0',
    '01.2.3',
    '>=1.2.0 und <2',
    '1.2.3 -',
    `>${'9'.repeat(40)}`,
    '1||'.repeat(100).concat('1'),
    `1.2.3-${'a'.repeat(300)}`,
  ]) {
    it(`refuse ${JSON.stringify(text.slice(0, 60))}`, () => throws(() => parseRange(text), /is not a range of versions/))
  }

  it('have 32 conditions at most, in all alternatives', () => {
    for (const text of ['1.x '.repeat(40), '2||'.repeat(40).concat('1')])
      throws(() => parseRange(text), /has more than 32 conditions/)
  })
})

describe('versions', (it) => {
  it('are ordered as semver.org orders them', () => {
    const order =
      '0.9.0 1.0.0-1 1.0.0-2 1.0.0-10 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0 1.10.0 2.0.0'
    const versions = order.split(' ').map(versionOf)
    for (const [at, one] of versions.entries())
      for (const [place, other] of versions.entries()) {
        if (!one || !other) throw new TypeError('unreadable')
        is(one.compare(other), Math.sign(at - place), `${at} ${place}`)
      }
  })

  for (const tag of [
    '1.2',
    'v1',
    'release-1.2.3',
    '1.2.3.4',
    '01.2.3',
    'latest',
    'app/v1.2.3',
    '1.2.3-',
    '1.2.3-01',
    `1.2.3-${'a'.repeat(300)}`,
  ])
    it(`are not read from ${tag}`, () => is(versionOf(tag), undefined))

  it('give the highest tag in a range, by number and not by text', async () => {
    const tags = ['v1.9.0', 'v1.10.0', 'v1.11.0-rc.1', 'v2.0.0', 'latest', 'v1']
    is(await highestTag(tags, parseRange('1.x')), 'v1.10.0')
    is(await highestTag(tags, parseRange('>=1.0.0-0 <2.0.0-0')), 'v1.11.0-rc.1')
    is(await highestTag(tags, parseRange('3.x')), undefined)
  })

  it('give the same tag of two spellings, in whichever order they come', async () => {
    is(await highestTag(['1.0.0', 'v1.0.0'], parseRange('1.x')), 'v1.0.0')
    is(await highestTag(['v1.0.0', '1.0.0'], parseRange('1.x')), 'v1.0.0')
  })
})
