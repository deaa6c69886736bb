import * as assert from 'uvu/assert'
import { type AnyObject, Deployments, type Kind } from '../../../src/api/index.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { createGadgets, takeOverStage, told } from '../../support/builders/take-over.ts'
import { type Dice, dice, runSeed } from '../../support/dice.ts'
import { describe } from '../../support/suite.ts'

const { kind: GADGETS, gadget, serve, forget } = createGadgets()
const ROUNDS = 12
const REF = { name: 'web' }
const BY_APPLY = ['kustomize-controller', 'argocd-controller', 'other']

describe('what a sync would take over', (it) => {
  const stage = takeOverStage(it, 'diff-dice', { serve, forget })
  const { kube, live, make, would, done } = stage

  /** It tells how many fields went. */
  const compare = async (kind: Kind<AnyObject>, git: AnyObject, round: number) => {
    const title = `round ${round} of seed ${runSeed}: ${JSON.stringify([await live(kind), git])}`
    const difference = await would(git)
    const changes = told(await done(kind, git))
    assert.equal(told(difference?.fields), changes, title)
    await kube.delete(kind, { ...REF, namespace: stage.namespace })
    return changes.filter((change) => change.endsWith('-> undefined')).length
  }

  it('is what is done then, whoever has set what', async () => {
    const kind = kindOfAny(Deployments)
    const roll = dice(runSeed)
    const some = () => ({ ...someDeployment(roll), metadata: { ...marks(roll), ...REF } })
    let gone = 0
    for (let round = 0; round < ROUNDS; round++) {
      if (roll(2) === 0) await make(kind, some())
      for (const manager of BY_APPLY.slice(roll(3))) await make(kind, some(), manager)
      const edit = { spec: { replicas: 4, minReadySeconds: 7 } }
      if (roll(2) === 0) await kube.patch(kind, { ...REF, namespace: stage.namespace }, edit, { manager: 'other' })
      gone += await compare(kind, some(), round)
    }
    assert.ok(gone > 0)
  })

  it('is what is done then where the schema does not name everything', async () => {
    const roll = dice(runSeed)
    let gone = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (const manager of BY_APPLY.slice(roll(3))) await make(GADGETS, someGadget(roll), manager)
      const edit = { x: { one: 'edited' } }
      const spec = { free: edit, places: edit }
      if (roll(2) === 0) await kube.patch(GADGETS, { ...REF, namespace: stage.namespace }, { spec }, { manager: 'other' })
      gone += await compare(GADGETS, someGadget(roll), round)
    }
    assert.ok(gone > 0)
  })
})

/** No mapping is ever empty. */
function someGadget(roll: Dice): AnyObject {
  const { some, fields } = choice(roll)
  const inner = () => ({ [`k${roll(2)}`]: String(roll(2)), ...fields({ one: String(roll(2)) }) })
  const outer = () => ({ kept: { one: '1' }, ...fields({ x: inner() }, { y: inner() }) })
  const spec = fields({ nul: null }, { nul: 'x' }, { size: 5 })
  return gadget({ free: outer(), places: outer(), words: ['a', ...some('b', 'c')], ...spec })
}

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
