import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import { unexplained } from '../../hack/reference/conditions.ts'
import { describe } from '../support/suite.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const textOf = (pattern: string): string =>
  globSync(pattern, { cwd: ROOT })
    .filter((path) => !path.includes('/generated/'))
    .map(read)
    .join('\n')

/** Reasons that tests expect, and that the servers, kubelets and callers of these tests give: no program of Berth's says them. */
const OF_OTHERS =
  'Conflict ContainerCreating DeletionByTaintManager Error FailedMount FieldManagerConflict FieldValueForbidden FieldValueInvalid FieldValueNotSupported FieldValueRequired Forbidden Forged NodeLost NotGranted OK Odd OutOfcpu PreemptionByScheduler TerminationByKubelet Tested Trial UnexpectedAdmissionError Unimplemented Wrong'.split(
    ' ',
  )

describe('the pages of reference', (it) => {
  it('explain every reason', () => {
    equal(unexplained(), [])
  })

  it('have every reason that a test expects', () => {
    const told = new Set([...read('docs/conditions.md').matchAll(/^\| `(\w+)`/gm)].map(([, word]) => word))
    ok(told.size > 300, `${told.size} reasons`)
    const expected = [...textOf('test/**/*.ts').matchAll(/\breason(?:: |, | === )'([A-Z]\w+)'/g)].map(([, word = '']) => word)
    ok(expected.length > 300, `${expected.length} expectations`)
    equal(
      [...new Set(expected)].filter((word) => !told.has(word) && !OF_OTHERS.includes(word)),
      [],
    )
  })

  it('have every label, annotation and attribute of ours', () => {
    const pages = read('docs/labels.md')
    const code = textOf('src/**/*.ts') + textOf('deploy/**/*.yaml')
    const keys = [...code.matchAll(/['" ]((?:[a-z]+\.)?berth\.dev\/[a-z][a-z0-9-]+)['":]/g)].map(([, key = '']) => key)
    ok(keys.length > 50, `${keys.length} keys`)
    equal([...new Set(keys)].filter((key) => !pages.includes(`\`${key}\``) && !OTHER_NAMES.test(key)).sort(), [])
  })
})

/** Versions of API groups, and a provisioner. */
const OTHER_NAMES = /\/(v\d|agent-namespace$)/
