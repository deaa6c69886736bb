import { equal } from 'uvu/assert'
import { revisionOf } from '../../../src/operator/gitops-deployment/source/repository.ts'
import { describe } from '../../support/suite.ts'

const COMMIT = 'a'.repeat(40)

describe('the revision of a source', (it) => {
  const CASES: [source: { targetRevision?: string; semver?: string }, kind: string, name?: string][] = [
    [{}, 'default'],
    [{ targetRevision: '' }, 'default'],
    [{ targetRevision: ' HEAD ' }, 'default'],
    [{ targetRevision: 'main' }, 'short', 'main'],
    [{ targetRevision: 'release/1.x' }, 'short', 'release/1.x'],
    [{ targetRevision: COMMIT }, 'commit', COMMIT],
    [{ targetRevision: 'abc1234' }, 'short', 'abc1234'],
    [{ targetRevision: 'refs/heads/x/y' }, 'branch', 'x/y'],
    [{ targetRevision: 'refs/tags/v1' }, 'tag', 'v1'],
    [{ targetRevision: 'refs/pull/7/head' }, 'full', 'refs/pull/7/head'],
    [{ semver: '>=1.2.0 <2.0.0' }, 'semver', '>=1.2.0 <2.0.0'],
  ]
  for (const [source, kind, name] of CASES)
    it(`${JSON.stringify(source)} is ${kind}`, () => equal(revisionOf(source), name === undefined ? { kind } : { kind, name }))
})
