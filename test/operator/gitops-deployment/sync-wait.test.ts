import * as assert from 'uvu/assert'
import { type GitOpsDeployment, keyOf } from '../../../src/api/index.ts'
import { type Rules, syncWaitOf } from '../../../src/operator/gitops-deployment/schedule/sync-wait.ts'
import { Failure } from '../../../src/std/index.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const COMMIT = 'c0ffee'.padEnd(40, '0')
const NOW = Date.parse('2030-01-01T12:00:00Z')

interface Made {
  dependsOn?: { name: string; namespace?: string }[]
  repoURL?: string
  ready?: boolean
  revision?: string
  observed?: number
  /** Generation under which the revision was admitted. */
  passed?: number
  syncWindows?: GitOpsDeployment['spec']['syncWindows']
}

function made(name: string, { dependsOn, repoURL = `https://git.example/${name}`, ready, revision, ...rest }: Made = {}) {
  const { observed = 1, passed, syncWindows } = rest
  const condition = {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason: ready ? 'Synced' : 'Degraded',
    message: '',
    lastTransitionTime: '',
  } as const
  const deployment: GitOpsDeployment = {
    apiVersion: 'managed-gitops.redhat.com/v1alpha1',
    kind: 'GitOpsDeployment',
    metadata: { name, namespace: 'team-a', generation: 1 },
    spec: {
      source: { repoURL, path: '.' },
      type: 'automated',
      ...(dependsOn && { dependsOn }),
      ...(syncWindows && { syncWindows }),
    },
    ...(ready !== undefined && {
      status: {
        observedGeneration: observed,
        conditions: [condition],
        sync: { status: 'Synced', ...(revision && { revision }) },
        ...(revision && passed && { admitted: { revision, generation: passed } }),
      },
    }),
  }
  return deployment
}

const waitFor = (
  deployment: GitOpsDeployment,
  others: GitOpsDeployment[] = [],
  crossNamespace = false,
  asked?: Rules['asked'],
) => {
  const all = new Map([deployment, ...others].map((one) => [keyOf(one.metadata), one]))
  const deployments = { get: (ref: Parameters<typeof keyOf>[0]) => all.get(keyOf(ref)) }
  return syncWaitOf(deployment, { commitId: COMMIT, files: [] }, { deployments }, { now: NOW, crossNamespace, asked })
}

const shop = (made_: Made = {}) => made('shop', { dependsOn: [{ name: 'base' }], ...made_ })

describe('what a commit waits for', (it) => {
  it('is nothing without dependencies and windows', () => {
    assert.is(waitFor(made('shop')), undefined)
  })

  it('67: is a dependency that is missing, not Ready, or changed since', () => {
    assert.match(waitFor(shop())?.message ?? '', /waits for GitOpsDeployment team-a\/base, which does not exist/)
    assert.match(waitFor(shop(), [made('base')])?.message ?? '', /was changed and is not looked at yet/)
    assert.match(waitFor(shop(), [made('base', { ready: false })])?.message ?? '', /is not Ready \(Degraded\)/)
    assert.match(waitFor(shop(), [made('base', { ready: true, observed: 0 })])?.message ?? '', /is not looked at yet/)
    assert.is(waitFor(shop(), [made('base', { ready: true })]), undefined)
  })

  it('is a dependency that has not applied the same commit of the same repository', () => {
    const repoURL = 'https://git.example/one.git'
    const base = (revision: string) => made('base', { repoURL: 'https://GIT.example/one', ready: true, revision })
    assert.match(waitFor(shop({ repoURL }), [base('older')])?.message ?? '', /has not applied commit c0ffee000000/)
    assert.is(waitFor(shop({ repoURL }), [base(COMMIT)]), undefined)
  })

  it('is not what was waited for once, when the commit is in effect', () => {
    assert.is(waitFor(shop({ ready: true, revision: COMMIT, passed: 1 }), [made('base', { ready: false })]), undefined)
  })

  it('is what was waited for, when the commit is half applied or the spec is another by now', () => {
    for (const passed of [undefined, 7]) {
      const half = { ready: false, revision: COMMIT, ...(passed && { passed }) }
      assert.is(waitFor(shop(half), [made('base', { ready: false })])?.reason, 'DependencyNotReady')
      const closed = made('shop', { ...half, syncWindows: [{ kind: 'Allow', schedule: '0 22 * * *', duration: '2h' }] })
      assert.is(waitFor(closed)?.reason, 'OutsideSyncWindow')
    }
  })

  it('G11: is a circle, which is named', () => {
    const others = [made('base', { dependsOn: [{ name: 'deep' }] }), made('deep', { dependsOn: [{ name: 'shop' }] })]
    try {
      waitFor(shop(), others)
      assert.unreachable()
    } catch (thrown) {
      const failure = Failure.from(thrown)
      assert.is(failure.reason, 'DependencyCycle')
      assert.match(failure.message, /team-a\/shop -> team-a\/base -> team-a\/deep -> team-a\/shop/)
    }
  })

  it('is found in a chain of ten thousand without taking long, and a circle of as many is named in short', () => {
    const link = (n: number, next: string) => made(`link-${n}`, { dependsOn: [{ name: next }] })
    const chain = Array.from({ length: 10_000 }, (_, n) => link(n, `link-${n + 1}`))
    const first = made('shop', { dependsOn: [{ name: 'link-0' }] })
    const spent = effort()
    assert.is(waitFor(first, chain)?.reason, 'DependencyNotReady')
    assert.throws(
      () => waitFor(first, [...chain, link(10_000, 'shop')]),
      /in a circle: team-a\/shop -> team-a\/link-0 -> (team-a\/link-\d -> ){4}… -> team-a\/shop$/,
    )
    // Of the CPU, in milliseconds.
    const took = spent()
    assert.ok(took < 1000, `took ${Math.round(took)} ms`)
  })

  it('does not take a circle of others for its own', () => {
    const others = [made('base', { dependsOn: [{ name: 'deep' }], ready: true }), made('deep', { dependsOn: [{ name: 'base' }] })]
    assert.is(waitFor(shop(), others), undefined)
  })

  it('R16: refuses another namespace unless that is allowed', () => {
    const far = made('shop', { dependsOn: [{ name: 'base', namespace: 'team-b' }] })
    assert.throws(() => waitFor(far), /spec\.dependsOn: GitOpsDeployment team-b\/base is in another namespace/)
    assert.is(waitFor(far, [], true)?.reason, 'DependencyNotReady')
  })

  it('is a closed sync window, until the next one', () => {
    const syncWindows = [{ kind: 'Allow', schedule: '0 22 * * *', duration: '2h' }] as const
    const found = waitFor(made('shop', { syncWindows: [...syncWindows] }))
    assert.is(found?.reason, 'OutsideSyncWindow')
    assert.is(found?.until, Date.parse('2030-01-01T22:00:00Z'))
    assert.is(waitFor(made('shop', { syncWindows: [...syncWindows], ready: true, revision: COMMIT, passed: 1 })), undefined)
  })

  it('is not looked for in sync windows where none matters', () => {
    const syncWindows = [{ kind: 'Allow' as const, schedule: '0 22 * * *', duration: '2h' }]
    let asked = 0
    const look = (deployment: GitOpsDeployment, rules: Partial<Rules> = {}) => {
      const findOpening = () => {
        asked++
        return { isOpen: false, until: undefined }
      }
      const deployments = { get: () => undefined }
      const how = { now: NOW, crossNamespace: false, findOpening, ...rules }
      return syncWaitOf(deployment, { commitId: COMMIT, files: [] }, { deployments }, how)
    }
    assert.is(look(made('shop', { syncWindows, ready: true, revision: COMMIT, passed: 1 })), undefined)
    assert.is(look(made('shop', { syncWindows }), { asked: 'now' }), undefined)
    assert.is(asked, 0)
    assert.is(look(made('shop', { syncWindows }))?.reason, 'OutsideSyncWindow')
    assert.is(asked, 1)
  })

  it('is no sync window, but still a dependency, when somebody asks for it now', () => {
    const closed = made('shop', { syncWindows: [{ kind: 'Deny', schedule: '0 0 * * *', duration: '24h' }] })
    assert.is(waitFor(closed)?.reason, 'OutsideSyncWindow')
    assert.is(waitFor(closed, [], false, 'now'), undefined)
    assert.is(waitFor(shop(), [made('base', { ready: false })], false, 'now')?.reason, 'DependencyNotReady')
  })

  it('is not at which commit a dependency is, when somebody asks for a revision', () => {
    const repoURL = 'https://git.example/one.git'
    const base = made('base', { repoURL, ready: true, revision: 'older' })
    assert.is(waitFor(shop({ repoURL }), [base], false, 'now')?.reason, 'DependencyNotReady')
    assert.is(waitFor(shop({ repoURL }), [base], false, 'this-revision'), undefined)
    assert.is(waitFor(shop({ repoURL }), [made('base', { repoURL })], false, 'this-revision')?.reason, 'DependencyNotReady')
  })
})
