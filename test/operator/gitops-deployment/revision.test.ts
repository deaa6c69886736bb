import { equal } from 'uvu/assert'
import { revisionOf } from '../../../src/operator/gitops-deployment/source/repository.ts'
import { describe } from '../../support/suite.ts'

const COMMIT = 'a'.repeat(40)
const DIGEST = 'b'.repeat(64)

describe('the revision of a source', (it) => {
  const CASES: [source: Parameters<typeof revisionOf>[0], kind: string, name?: string][] = [
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
    [{ targetRevision: `sha256:${DIGEST}` }, 'commit', DIGEST],
    [{ chart: { name: 'web' } }, 'chart', 'web@'],
    [{ chart: { name: 'web', version: '^1.2' } }, 'chart', 'web@^1.2'],
  ]
  for (const [source, kind, name] of CASES)
    it(`${JSON.stringify(source)} is ${kind}`, () => equal(revisionOf(source), name === undefined ? { kind } : { kind, name }))

  it('is another one of the same chart where a run names it', () => {
    const source = { chart: { name: 'web', version: '^1.2' } }
    equal(revisionOf(source, DIGEST), { kind: 'chart', name: `web@sha256:${DIGEST}` })
    equal(revisionOf(source, '1.2.3'), { kind: 'chart', name: 'web@1.2.3' })
  })
})
