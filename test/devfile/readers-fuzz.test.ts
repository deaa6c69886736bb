import * as assert from 'uvu/assert'
import { readByLibrary } from '../../src/devfile/library-reader.ts'
import { readPlainly } from '../../src/devfile/plain-reader.ts'
import type { Findings } from '../../src/devfile/problem.ts'
import { originOf, type Tree, walkTree } from '../../src/devfile/tree.ts'
import { dice, runSeed } from '../support/dice.ts'
import { rounds } from '../support/sample.ts'
import { describe } from '../support/suite.ts'

const SEEDS = [
  `schemaVersion: 2.2.0
variables: { tag: "24", b: 'it''s' }
components:
  - name: tools
    container:
      image: quay.io/devfile/universal:ubi8 # comment
      args: [infinity, "a: b", 'c']
      env:
      - name: A
        value: "x\\ny"
      - {name: B, value: 1.50}
  - name: k
    kubernetes:
      inlined: |
        apiVersion: v1
          kind: Foo

        a: b
  # c
  - name: cache
    volume:
- - nested
  - deep: |-
      foo
    b: ~
`,
  `{"schemaVersion":"2.2.0","a":[1,2.5,true,null,{"b":"c\\u0041"}],
  "x": {
    "y": []
  }
}
`,
  `---
a: |+
  x

b: |
  y
   z
c:
  - |
   q
  - ""
  - 0x1F
  - -1e3
- - nested
  - deep: |-
      foo
    b: ~
d: {}
`,
]
const MARKS = ' \n:-#"\'{}[],|>&*!?%@`ab1~\\.+'

function mutated(roll: (sides: number) => number): string {
  let text = SEEDS[roll(SEEDS.length)] ?? ''
  for (let edits = roll(4); edits > 0; edits--) {
    const place = roll(text.length)
    const mark = MARKS[roll(MARKS.length)] ?? ''
    const cut = [0, 1, roll(20)][roll(3)] ?? 0
    text = `${text.slice(0, place)}${roll(2) === 0 ? mark : ''}${text.slice(place + cut)}`
  }
  return text
}

/** Every value with its path and its place; an empty one has no place of its own. */
function spelled(tree: Tree): string {
  const lines: string[] = []
  walkTree(tree, '', (each, path) => {
    const value = each.kind === 'scalar' ? String(each.value) : each.kind
    lines.push(`${path} ${value}${value === 'null' ? '' : ` at ${each.at}`}`)
  })
  return lines.join('\n')
}

describe('devfile: the two readers', (it) => {
  it('agree to the character on whatever the plain one reads', () => {
    const roll = dice(runSeed)
    const texts = rounds({ sample: 2000, whole: 400_000 })
    let both = 0
    for (let round = 0; round < texts; round++) {
      const text = mutated(roll)
      const origin = originOf('', text)
      const plain = readPlainly(origin)
      if (!('kind' in plain)) continue
      const findings: Findings = { problems: [], warnings: [] }
      const thorough = readByLibrary(origin, findings)
      assert.equal(findings.problems, [], text)
      assert.is(thorough && spelled(thorough), spelled(plain), text)
      both++
    }
    assert.ok(both > texts / 8, `${both} texts were read by both`)
  })

  it('leave to the library what is not plain: anchors, tags, folds, several lines, several documents', () => {
    for (const text of [
      'a: &x b',
      'a: *x',
      'a: !!str b',
      'a: >\n  b',
      'a: b\n  c',
      'a: b\n---\nc: d',
      '? a\n: b',
      'a:\tb',
      'a: b\r\n',
      '{ "a": 1\n# a comment\n}',
      'a:\n# a comment\n  b\nc: d',
    ])
      assert.not.ok('kind' in readPlainly(originOf('', text)), text)
  })
})
