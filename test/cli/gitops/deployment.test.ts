import * as assert from 'uvu/assert'
import { type GitOpsDeployment, keyOf } from '../../../src/api/index.ts'
import { likely } from '../../../src/cli/find-object.ts'
import { otherRevisions, revisionMeant } from '../../../src/cli/gitops/rollback.ts'
import { type TreeNode, treeLines } from '../../../src/cli/gitops/tree-lines.ts'
import { verdictOf } from '../../../src/cli/gitops/verdict.ts'
import { plain } from '../../../src/cli/shell.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const REF = { name: 'shop', namespace: 'team-a' }

const HINTS: [why: string, known: string[], said: string][] = [
  ['the same name elsewhere', ['team-b/shop', 'team-a/web'], 'There is team-b/shop: name the namespace with -n.'],
  ['a slip of the finger first', ['team-a/web', 'team-a/shp', 'team-b/other'], 'In that namespace there is shp, web.'],
  ['nearly so elsewhere', ['team-b/shopp', 'team-b/other'], 'There is team-b/shopp.'],
  ['none', [], 'In that namespace there is none. List them with kubectl get gitopsdeployments -A.'],
]

const deployment = (status: NonNullable<GitOpsDeployment['status']>): GitOpsDeployment => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { ...REF, generation: 2 },
  spec: { source: { repoURL: 'https://example.com/x', path: '.' }, type: 'automated' },
  status: { observedGeneration: 2, ...status },
})

const says = (status: 'True' | 'False', reason: string, type = 'Ready') => ({
  type,
  status,
  reason,
  message: 'm',
  lastTransitionTime: '2026-01-01T00:00:00Z',
})

const VERDICTS: [why: string, status: NonNullable<GitOpsDeployment['status']>, word: string][] = [
  ['nothing was said yet', {}, 'under-way'],
  ['an earlier spec is spoken of', { observedGeneration: 1, conditions: [says('True', 'Synced')] }, 'under-way'],
  ['it is Ready', { conditions: [says('True', 'Synced')] }, 'ready'],
  ['objects are on their way', { conditions: [says('False', 'Progressing')] }, 'under-way'],
  ['something could not be applied', { conditions: [says('False', 'X'), says('True', 'SyncFailed', 'SyncError')] }, 'failed'],
  ['an object is ill', { conditions: [says('False', 'Degraded')] }, 'failed'],
  [
    'a guard holds deletions back',
    { conditions: [says('False', 'PruneTooMany')], pendingPrune: { revision: 'a', count: 1, reason: 'PruneTooMany' } },
    'failed',
  ],
]

const A = 'a'.repeat(40)
const B = `b1${'0'.repeat(38)}`
const C = `b2${'0'.repeat(38)}`
const at = '2026-01-01T00:00:00Z'
const HISTORY = [A, B, C, A].map((revision) => ({ revision, at }))

const REVISIONS: [why: string, asked: string | undefined, current: string, chosen: string][] = [
  ['the last one that is not in effect', undefined, A, B],
  ['the last good one, when a bad one is in effect', undefined, 'bad', A],
  ['some digits of it', 'b2', A, C],
  ['a branch', 'main', A, 'main'],
  ['a whole commit that is not in the history', 'c'.repeat(40), A, 'c'.repeat(40)],
]

const node = (name: string, more: Partial<TreeNode> = {}): TreeNode => ({
  group: '',
  kind: 'ConfigMap',
  namespace: 'team-a',
  name,
  sync: 'Synced',
  health: 'Healthy',
  drift: [],
  children: [],
  ...more,
})

describe('verbs about a GitOpsDeployment', (it) => {
  it('name what might have been meant', () => {
    for (const [why, known, said] of HINTS) {
      const refs = known.map((key) => ({ namespace: key.slice(0, key.indexOf('/')), name: key.slice(key.indexOf('/') + 1) }))
      assert.is(likely(REF, refs, 'kubectl get gitopsdeployments -A'), said, why)
      assert.equal(refs.map(keyOf), known)
    }
  })

  it('know from the status whether waiting is worth while', () => {
    for (const [why, status, word] of VERDICTS) assert.is(verdictOf(deployment(status)).word, word, why)
  })

  it('find the revision to go back to', () => {
    for (const [why, asked, revision, chosen] of REVISIONS) {
      const known = deployment({ history: HISTORY, sync: { status: 'Synced', revision } })
      assert.is(asked === undefined ? otherRevisions(known)[0] : revisionMeant(known, asked), chosen, why)
    }
  })

  it('refuse a revision that may be several, or none', () => {
    const known = deployment({ history: HISTORY, sync: { status: 'Synced', revision: A } })
    assert.throws(() => revisionMeant(known, 'b'), isFailure)
    assert.throws(() => revisionMeant(known, 'feed'), 'is not in the history')
    assert.throws(() => otherRevisions(deployment({})), 'no other commit')
  })

  it('draw a tree of 80 columns, whatever the names and notes', () => {
    const pod = node('web-'.repeat(30), { kind: 'Pod', health: 'Running', children: [] })
    const lines = treeLines(
      [
        node('one', { drift: ['/data/x'], message: 'a note that goes on and on '.repeat(6).trim() }),
        node('two', { kind: 'Deployment', group: 'apps', children: [node('set', { kind: 'ReplicaSet', children: [pod] }), pod] }),
        node('all', { kind: 'ClusterRole', namespace: '' }),
        node('\u001B[2Jevil', { message: '\u001B]0;title\u0007' }),
      ],
      plain,
    )
    for (const line of lines) assert.ok(line.length <= 80, line)
    const text = lines.join('\n')
    assert.match(text, 'differs in /data/x')
    assert.match(text, '├─ ReplicaSet set')
    assert.match(text, '│  └─ Pod web-')
    assert.match(text, 'cluster-scoped\n')
    assert.not.match(text, '\u001B')
  })
})
