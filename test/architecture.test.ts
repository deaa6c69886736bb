import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { LAW, type Room } from './architecture/law.ts'
import { readSources, type Source } from './architecture/source.ts'
import { cycles, folderCycles, isWritten, ORDERED, RULES } from './architecture/violations.ts'
import { bannedWords, sharedTypeNames } from './architecture/words.ts'
import { describe } from './support/suite.ts'

const ROOT = join(import.meta.dirname, '..')

describe('the house', (it) => {
  let sources: Source[] = []
  it.before(() => {
    sources = readSources(ROOT, 'src').filter(isWritten)
  })
  it('has files', () => assert.ok(sources.length > 100, `${sources.length} files`))
  for (const [title, rule] of Object.entries(RULES)) {
    it(title, () =>
      assert.equal(
        sources.flatMap((source) => rule(source, LAW)),
        [],
      ),
    )
  }
  it('has no import cycle', () => assert.equal(cycles(sources), []))
  for (const room of ORDERED) it(`has no cycle of folders in ${room}`, () => assert.equal(folderCycles(sources, room), []))
  it('has a law whose rooms stand in order', () => {
    const order = Object.keys(LAW)
    const upwards = order.flatMap((room, at) => (LAW[room]?.imports ?? []).filter((other) => order.indexOf(other) >= at))
    assert.equal(upwards, [])
  })
})

describe('the words of src', (it) => {
  const sources = readSources(ROOT, 'src').filter(isWritten)
  it('are those of the field', () => assert.equal(sources.flatMap(bannedWords), []))
  it('name one type each', () => assert.equal(sharedTypeNames(sources), []))
})

describe('tests and scripts', (it) => {
  for (const folder of ['test', 'hack']) {
    it(`are short and well named in ${folder}/`, () => {
      const rules = ['no name says nothing', 'no file and no function is too long', 'time comes from the Clock']
      const sources = readSources(ROOT, folder)
      const inTests = (source: Source) => rules.flatMap((rule) => RULES[rule]?.(source, LAW) ?? [])
      // A suite is one function whose lines are its tests; what is inside the tests counts, and files do.
      const found = sources.flatMap(inTests).filter((sentence) => !/\.test\.ts:\d+: a function of/.test(sentence))
      assert.equal(found, [])
    })
    it(`have the words of the field in ${folder}/`, () => {
      // What the samples deploy is called a shop, and what hack/bench does is a bench.
      const words = readSources(ROOT, folder).flatMap(bannedWords)
      assert.equal(
        words.filter((found) => !found.startsWith('architecture') && !/not "(shop|bench)"/.test(found)),
        [],
      )
    })
  }
})

/** A small house in which everything is wrong once: whoever changes the checker sees that it still looks. */
const TOY_LAW: Record<string, Room> = {
  std: { imports: [] },
  api: { imports: ['std'] },
  'adapters/disk': { imports: ['std'], packages: ['yaml'], process: ['kill'], casts: true },
  program: { imports: ['std', 'api', 'adapters/disk'], isProgram: true, ground: ['floor'] },
}
const DOOR = '/**\n * What this room is for.\n */\n'
const TOY: Record<string, string> = {
  'std/index.ts': `${DOOR}export { now } from './clock.ts'\n`,
  'std/clock.ts': 'export const now = () => setTimeout(() => undefined, 1)\n',
  'std/upwards.ts': "import { thing } from '../api/index.ts'\nexport const up = thing\n",
  'std/ring-a.ts': "import type { B } from './ring-b.ts'\nexport type A = B | 1\n",
  'std/ring-b.ts': "import type { A } from './ring-a.ts'\nexport type B = A[] | 2\n",
  'api/index.ts': 'export const thing = 1\n',
  'api/types.ts': "import type { KubeConfig } from '@kubernetes/client-node'\nexport type K = KubeConfig\n",
  'api/package.ts': "import { parse } from 'yaml'\nexport const p = parse\n",
  'adapters/disk/index.ts': `${DOOR}export { end } from './end.ts'\n`,
  'adapters/disk/end.ts':
    "import { kill, exit } from 'node:process'\nexport const end = () => (kill(1, 0) ? exit(1) : console.log(1 as number))\n",
  'program/index.ts': `${DOOR}export const a = 1\n`,
  'program/one/reconcile.ts':
    "import { b } from '../two/rest.ts'\nimport { now } from '../../std/clock.ts'\nexport const c = [b, now]\n",
  'program/floor/board.ts': "import { c } from '../one/reconcile.ts'\nexport const board = c\n",
  'program/two/standing.ts': "import { board } from '../floor/board.ts'\nexport const standing = board\n",
  'program/two/rest.ts': 'export let b = 1\nexport const cache = new Map()\nexport const fixed = new Set([1])\n',
  'program/two/desired.ts': "import { end } from '../../adapters/disk/index.ts'\nexport const d = end\n",
  'program/two/loose.ts': 'export default (x: any) => x!.y as string\nexport enum Z {}\n',
  'program/two/errors.ts': 'export function e() {\n  try {\n    throw new Error("x")\n  } catch {}\n  setInterval(e, 1)\n}\n',
  'program/two/pattern.ts': "export const fits = (word: string) => new RegExp(word).test('') || /a/.test(word)\n",
  'program/two/long.ts': `export function long() {\n${'  long()\n'.repeat(80)}}\n${'\n'.repeat(330)}`,
  'program/two/words.ts':
    'export interface ShopOptions { HTTPDesks: 1 }\nexport const { seat: place } = { seat: (knock: 1) => knock }\n',
  'program/two/twin.ts': 'export interface Twin { a: 1 }\nexport interface Twin { b: 1 }\nexport class Other {}\n',
  'program/two/shelf.ts': 'export type Twin = 1\nexport type Other = 1\n',
  'attic/box.ts': 'export const box = 1\n',
}

describe('the checker', (it) => {
  const root = mkdtempSync(join(tmpdir(), 'berth-toy-'))
  let sources: Source[] = []
  it.before(() => {
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
    for (const [file, text] of Object.entries({ ...inSrc(TOY), 'tsconfig.json': TSCONFIG })) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), text)
    }
    sources = readSources(root, 'src')
  })
  it.after(() => rmSync(root, { recursive: true }))
  const expected: Record<keyof typeof RULES, string[]> = {
    'every file lives in a room': ['attic/box.ts: lives in no room'],
    'no name says nothing': ['api/types.ts: find a name'],
    'rooms import only what the law lists, and through the door': [
      'program/one/reconcile.ts:2: enter std by its door, not by std/clock.ts',
      'std/upwards.ts:1: std must not import api',
    ],
    'inside a program, rooms do not know their siblings': [
      'program/floor/board.ts:1: sibling room program/one/reconcile.ts',
      'program/one/reconcile.ts:1: sibling room program/two/rest.ts',
    ],
    'each package has its home': ['api/package.ts:1: yaml is not at home here'],
    'a door holds a comment and exports, nothing else': [
      'api/index.ts: has 1 statements beside exports',
      'api/index.ts: says nothing about the room',
      'program/index.ts: has 1 statements beside exports',
    ],
    'only cli touches the process and the console': ['adapters/disk/end.ts:1: process.exit', 'adapters/disk/end.ts:2: console'],
    'what should be and what is said is pure': [
      'program/two/desired.ts:1: imports ../../adapters/disk/index.ts, so it is not pure',
    ],
    'no file and no function is too long': [
      'program/two/long.ts: 412 lines',
      'program/two/long.ts:1: a function of more than 80 lines',
    ],
    'no state at module level': ['program/two/rest.ts:1: module-level state', 'program/two/rest.ts:2: module-level state'],
    'no any, no enum, no default export, no non-null assertion': [
      'program/two/loose.ts:1: any',
      'program/two/loose.ts:1: default export',
      'program/two/loose.ts:1: non-null assertion',
      'program/two/loose.ts:2: enum',
    ],
    'casts only in adapters': ['program/two/loose.ts:1: cast'],
    'no catch swallows without a word': ['program/two/errors.ts:4: silent catch'],
    'patterns are written out, so that patterns.test.ts sees them': ['program/two/pattern.ts:1: pattern of a variable'],
    'errors are Failures': ['program/two/errors.ts:3: throw new Error'],
    'time comes from the Clock': ['program/two/errors.ts:5: timer'],
  }
  for (const [title, rule] of Object.entries(RULES)) {
    it(`sees when it is not true that ${title}`, () => {
      assert.equal(sources.flatMap((source) => rule(source, TOY_LAW)).sort(), expected[title])
    })
  }
  it('sees a cycle of type imports', () => {
    assert.equal(cycles(sources), ['std/ring-a.ts -> std/ring-b.ts -> std/ring-a.ts'])
  })
  it('sees banned words in all that a file names, and in its own name', () => {
    assert.equal(sources.flatMap(bannedWords).sort(), [
      'program/two/shelf.ts:1: program/two/shelf.ts: say "cache, or what lies on it" and not "shelf"',
      'program/two/words.ts:1: HTTPDesks: say "context, options or services" and not "desk"',
      'program/two/words.ts:1: ShopOptions: say "services" and not "shop"',
      'program/two/words.ts:2: knock: say "check a token" and not "knock"',
      'program/two/words.ts:2: seat: say "place" and not "seat"',
    ])
  })
  it('sees types that two files export', () => assert.equal(sharedTypeNames(sources), ['Other', 'Twin']))
})

const TSCONFIG = JSON.stringify({
  compilerOptions: { target: 'es2024', module: 'nodenext', types: [], noEmit: true, allowImportingTsExtensions: true },
  include: ['src'],
})

const inSrc = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`src/${file}`, text]))
