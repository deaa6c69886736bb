import * as assert from 'uvu/assert'
import { type AnyObject, Deployments } from '../../../src/api/index.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { place } from '../../../src/engines/gitops/objects/place.ts'
import { differencesOf, type FieldChange, fieldChanges } from '../../../src/engines/gitops/preview/diff.ts'
import { systemClock } from '../../../src/std/index.ts'
import { applyAmongOthers, createApplier } from '../../support/builders/applier.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type Dice, dice, runSeed } from '../../support/dice.ts'
import { describe } from '../../support/suite.ts'

const DEPLOYMENTS = kindOfAny(Deployments)
const PREDECESSORS = ['kubectl-create', 'kustomize-controller', 'other']

describe('what a sync would take over', (it) => {
  const { kube, ...cluster } = testCluster()
  it.after(() => cluster.close())

  it('is what is done then, whoever has set what', async () => {
    const namespace = await cluster.namespace('diff-dice')
    const applier = createApplier(kube, namespace)
    const ref = { name: 'web', namespace }
    const roll = dice(runSeed)
    const some = () => ({ ...someDeployment(roll), metadata: { ...marks(roll), ...ref } })
    for (let round = 0; round < 12; round++) {
      const managers = PREDECESSORS.slice(roll(2))
      if (managers.length === PREDECESSORS.length) await kube.create(DEPLOYMENTS, some(), { manager: 'kubectl-create' })
      for (const manager of managers.slice(-2)) await kube.apply(DEPLOYMENTS, some(), { manager, force: true })
      if (roll(2) === 0) await kube.patch(DEPLOYMENTS, ref, { spec: { replicas: 4, minReadySeconds: 7 } }, { manager: 'other' })

      const git = some()
      const { desired } = await place([{ object: git, source: 'a.yaml:1' }], { kube, namespace }, applier.owner)
      const comparing = { kube, owner: applier.owner.id, clock: systemClock, uidOf: () => undefined }
      const [difference] = await differencesOf(desired, comparing)
      const before = await kube.get(DEPLOYMENTS, ref)
      const [entry] = await applyAmongOthers(applier, [git])
      const done = fieldChanges(before, await kube.get(DEPLOYMENTS, ref))
      const title = `round ${round} of seed ${runSeed}: ${JSON.stringify([before, git])}`
      assert.is(entry?.why, undefined, title)
      assert.equal(told(difference?.fields), told(done), title)
      await kube.delete(DEPLOYMENTS, ref)
    }
  })
})

/** A controller numbers the revisions at its own pace. */
const told = (changes: readonly FieldChange[] = []) =>
  changes
    .filter(({ path }) => path !== '/metadata/annotations/deployment.kubernetes.io~1revision')
    .map((change) => JSON.stringify(change))
    .sort()

/** With some of what there may be. */
function someDeployment(roll: Dice): AnyObject {
  const { some, fields } = choice(roll)
  const env = () => some('A', 'B', 'C').map((name) => ({ name, value: String(roll(2)) }))
  const ports = () => some(80, 81).map((containerPort) => ({ containerPort }))
  const container = (name: string) => ({
    name,
    image: `${name}:1`,
    ...fields(
      { env: env() },
      { ports: ports() },
      { args: some('a', 'b') },
      { resources: { limits: fields({ cpu: '1' }, { memory: '1Gi' }) } },
    ),
    ...fields({ securityContext: fields({ runAsNonRoot: true }, { privileged: false }) }, { imagePullPolicy: 'Always' }),
  })
  const volumes = some('v', 'w').map((name) => ({ name, emptyDir: fields({ sizeLimit: '1Gi' }) }))
  const pod = {
    containers: ['web', ...some('side', 'more')].map(container),
    ...fields({ volumes }, { hostAliases: some('10.0.0.1', '10.0.0.2').map((ip) => ({ ip, hostnames: some('a', 'b') })) }),
    ...fields(
      { nodeSelector: fields({ a: '1' }, { b: '1' }) },
      { terminationGracePeriodSeconds: 5 },
      { securityContext: { runAsUser: 1 } },
    ),
  }
  const strategy = { type: 'RollingUpdate', ...fields({ rollingUpdate: fields({ maxSurge: 2 }, { maxUnavailable: 0 }) }) }
  const spec = fields({ replicas: 2 }, { minReadySeconds: 5 }, { strategy }, { revisionHistoryLimit: 3 })
  const annotations = fields({ a: '1' }, { b: '1' }, { 'kubectl.kubernetes.io/restartedAt': '2026-08-01T10:00:00Z' })
  const template = { metadata: { labels: { app: 'web' }, ...fields({ annotations }) }, spec: pod }
  const selector = { matchLabels: { app: 'web' } }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { selector, template, ...spec } }
}

function marks(roll: Dice): object {
  const { fields } = choice(roll)
  return fields({ labels: fields({ a: '1' }, { b: '1' }) }, { annotations: fields({ a: '1' }, { b: '1' }) })
}

function choice(roll: Dice) {
  const some = <T>(...all: T[]): T[] => all.filter(() => roll(2) === 0)
  return { some, fields: (...all: object[]): object => Object.assign({}, ...some(...all)) }
}
