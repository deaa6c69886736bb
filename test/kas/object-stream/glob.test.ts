import { equal, is, ok } from 'uvu/assert'
import { parseGlob } from '../../../src/kas/object-stream/index.ts'
import { isFailure } from '../../../src/std/index.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const CASES: [glob: string, path: string, matches: boolean, why: string][] = [
  ['**/*.{yaml,yml,json}', 'a.yml', true, '** stands for no folder too'],
  ['**/*.{yaml,yml,json}', 'a/b/c.json', true, 'and for many'],
  ['**/*.{yaml,yml,json}', 'a/b/c.txt', false, 'none of the alternatives'],
  ['**.yaml', 'a.yaml', true, '** within a name is a plain star'],
  ['**.yaml', 'a/b.yaml', false, 'so it does not go into folders'],
  ['**', 'a/b/c', true, 'everything'],
  ['/deploy/*.yaml', 'deploy/a.yaml', true, 'a leading slash is the root of the repository'],
  ['deploy/*.yaml', 'deploy/x/a.yaml', false, 'a star stays within its folder'],
  ['deploy/**/a.yaml', 'deploy/a.yaml', true, '** in the middle stands for nothing too'],
  ['deploy/**', 'deploy/x/.env', true, 'names that begin with a dot are names'],
  ['*', '.x.yaml', true, 'also for a star'],
  ['a?c', 'abc', true, 'one character'],
  ['a?c', 'ac', false, 'not none'],
  ['a?c', 'a/c', false, 'and never a slash'],
  ['[a-c]x', 'bx', true, 'a range'],
  ['[!a-c]x', 'bx', false, 'not in it'],
  ['[^a-c]x', 'dx', true, 'the other way to say not'],
  ['[]]', ']', true, 'a bracket that comes first is itself'],
  ['a\\*', 'a*', true, 'a backslash takes the meaning away'],
  ['a\\*', 'ab', false, 'so it is not a star'],
  ['!a', '!a', true, 'an exclamation mark negates nothing'],
  ['{a,b{c,d}}/x', 'bd/x', true, 'braces in braces'],
  ['{a,b/c}/x', 'b/c/x', true, 'a slash in braces'],
  ['x*y*z', 'xaybyz', true, 'stars that have to try again'],
  ['ü?', 'üä', true, 'characters, not bytes'],
]

const isMatch = (glob: string, path: string): boolean => parseGlob(glob).compile()(path, { steps: 0 })

describe('path patterns', (it) => {
  for (const [glob, path, matches, why] of CASES) {
    it(`${glob} ${matches ? 'matches' : 'does not match'} ${path}: ${why}`, () => is(isMatch(glob, path), matches, why))
  }

  it('look only into the folder before the first special character', () => {
    const of = (text: string) => [parseGlob(text).folder, parseGlob(text).recursive]
    equal(of('deploy/prod/*.yaml'), ['deploy/prod', false])
    equal(of('deploy/**'), ['deploy', true])
    equal(of('deploy/a*/b'), ['deploy', true])
    equal(of('*.yaml'), ['', false])
    equal(of('a/b.yaml'), ['a', false])
    equal(of('app/\\[slug\\]/a\\*/**'), ['app/[slug]/a*', true])
    ok(parseGlob('app/\\[slug\\]/**').whole)
  })

  for (const bad of ['', '/', '[a', '{a', 'a\\', '{a,b}'.repeat(9), 'x'.repeat(600)]) {
    it(`refuse ${JSON.stringify(bad.slice(0, 20))} of ${bad.length} characters with a reason`, () => {
      try {
        parseGlob(bad)
      } catch (thrown) {
        return ok(isFailure(thrown, 'invalid') && thrown.reason === 'GlobInvalid')
      }
      ok(false, 'was accepted')
    })
  }

  it('count what it costs to hold them against a path', () => {
    const stepsOf = (glob: string, path: string) => {
      const taken = { steps: 0 }
      parseGlob(glob).compile()(path, taken)
      return taken.steps
    }
    ok(stepsOf('**/*.{yaml,yml,json}', 'apps/shop/deployment.yaml') < 200)
    ok(stepsOf(`**/*${'a'.repeat(420)}b${'{a,b}'.repeat(7)}`, `${'a'.repeat(39)}/`.repeat(100)) > 500_000)
    is(parseGlob('**/*.{yaml,yml}').length, 2 + 7 + 2 + 6)
  })

  for (const [what, glob, path] of [
    ['stars in a row', `${'{,}'.repeat(6)}a${'*'.repeat(480)}b`, 'a'],
    ['stars after what matches', `????${'*?'.repeat(200)}b`, 'abcd'],
    ['classes', `${'{,}'.repeat(5)}[${'b'.repeat(400)}]*`, 'a'],
    ['folders', `${'**/'.repeat(170)}b`, 'a/'.repeat(500)],
    ['a long name', `${'*a'.repeat(200)}b`, 'a'.repeat(4000)],
  ] as const)
    it(`take as long as they say, with ${what}`, () => {
      const spent = effort()
      const taken = { steps: 0 }
      for (let times = 0; taken.steps < 5_000_000; times++) parseGlob(`${glob}${times % 10}`, taken).compile(taken)(path, taken)
      ok(spent() < (taken.steps / 1e6) * 200, `${spent()} ms for ${taken.steps} steps`)
    })

  it('take no longer for hostile patterns', () => {
    const spent = effort()
    is(isMatch(`${'*a'.repeat(100)}b`, 'a'.repeat(2000)), false)
    is(isMatch(`${'**/'.repeat(60)}b`, 'a/'.repeat(500)), false)
    ok(spent() < 1000)
  })
})
