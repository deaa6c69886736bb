import { is } from 'uvu/assert'
import type { Revision } from '../../../src/adapters/git/index.ts'
import { concerns } from '../../../src/kas/git-polling/concerns.ts'
import { describe } from '../../support/suite.ts'

describe('a push', (it) => {
  const CASES: [kind: Revision['kind'], name: string, meant: string | undefined, concerned: string, others: string][] = [
    ['default', '', 'refs/heads/main', 'refs/heads/main', 'refs/heads/mai refs/heads/main2 refs/tags/main'],
    ['default', '', undefined, 'refs/heads/main refs/heads/x', ''],
    ['branch', 'main', undefined, 'refs/heads/main', 'refs/heads/main/x refs/tags/main refs/heads/mainx'],
    ['branch', '.*', undefined, 'refs/heads/.*', 'refs/heads/main'],
    ['tag', 'v1', undefined, 'refs/tags/v1', 'refs/heads/v1 refs/tags/v10'],
    ['short', 'v1', undefined, 'refs/tags/v1 refs/heads/v1', 'refs/tags/v10 refs/pull/v1'],
    ['full', 'refs/pull/7/head', undefined, 'refs/pull/7/head', 'refs/pull/77/head'],
    ['semver', '1.x', 'refs/tags/v1.0.0', 'refs/tags/v1.1.0 refs/tags/whatever', 'refs/heads/1.x'],
    ['refs', 'refs/heads/x/*', undefined, 'refs/heads/x/y refs/heads/x/y/z', 'refs/heads/x refs/tags/x/y'],
    ['refs', 'refs/*/7/head', undefined, 'refs/pull/7/head', 'refs/pull/77/head refs/7/head'],
    ['commit', 'a'.repeat(40), undefined, 'refs/heads/main', ''],
  ]
  for (const [kind, name, meant, concerned, others] of CASES) {
    it(`concerns ${kind} ${name} (${meant ?? 'not seen yet'}) if it is to ${concerned}, and not if it is to ${others || '-'}`, () => {
      const revision: Revision = kind === 'default' ? { kind } : { kind, name }
      for (const ref of concerned.split(' ')) is(concerns(revision, meant, ref), true, ref)
      for (const ref of others.split(' ').filter(Boolean)) is(concerns(revision, meant, ref), false, ref)
    })
  }
})
