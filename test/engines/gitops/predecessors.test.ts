import * as assert from 'uvu/assert'
import { type AnyObject, Deployments } from '../../../src/api/index.ts'
import { valueAt } from '../../../src/engines/apply/index.ts'
import { takingOver } from '../../../src/engines/gitops/apply/take-over.ts'
import { appliedBy } from '../../../src/engines/gitops/index.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { managerOf } from '../../../src/engines/gitops/objects/place.ts'
import { type Applier, applyAmongOthers, createApplier, said } from '../../support/builders/applier.ts'
import { testCluster } from '../../support/control-plane.ts'
import { personWithKubectl } from '../../support/kubectl.ts'
import { describe } from '../../support/suite.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt'
const TEMPLATE = ['spec', 'template', 'metadata', 'annotations']

const KUSTOMIZE = { 'kustomize.toolkit.fluxcd.io/name': 'shop', 'kustomize.toolkit.fluxcd.io/namespace': 'flux-system' }
const HELM = { 'helm.toolkit.fluxcd.io/name': 'shop', 'helm.toolkit.fluxcd.io/namespace': 'flux-system' }
const ARGO = { 'app.kubernetes.io/instance': 'shop' }
const TRACKING = { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web' }

/** The marks that each program leaves on what it applies. */
const PREDECESSORS: [manager: string, operation: 'Apply' | 'Update', marks: { labels?: object; annotations?: object }][] = [
  ['argocd-controller', 'Apply', { labels: ARGO, annotations: TRACKING }],
  ['argocd-controller', 'Update', { labels: ARGO, annotations: { ...TRACKING, [LAST_APPLIED]: '{}' } }],
  ['argocd-application-controller', 'Update', { labels: ARGO, annotations: { [LAST_APPLIED]: '{}' } }],
  ['kustomize-controller', 'Apply', { labels: KUSTOMIZE }],
  ['helm-controller', 'Update', { labels: HELM, annotations: { 'meta.helm.sh/release-name': 'shop' } }],
]

const deployment = (namespace: string, metadata: object = {}, spec: object = {}, template: object = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace, ...metadata },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' }, ...template }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    ...spec,
  },
})

describe('what other programs kept', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('predecessors')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())
  const { run, byHand } = personWithKubectl(it, cluster, () => namespace)

  const kind = kindOfAny(Deployments)
  const live = () => kube.read<AnyObject>(`/apis/apps/v1/namespaces/${namespace}/deployments/web`)
  const make = (object: AnyObject, manager: string, operation: string) =>
    operation === 'Apply' ? kube.apply(kind, object, { manager, force: true }) : kube.create(kind, object, { manager })
  const annotationsIn = (object: unknown) => valueAt(object, TEMPLATE)

  for (const [manager, operation, marks] of PREDECESSORS)
    it(`becomes ours where it was ${manager} by ${operation}, without its marks and without a restart`, async () => {
      const before = await make(deployment(namespace, marks, { minReadySeconds: 5 }), manager, operation)
      await applyAmongOthers(applier, [deployment(namespace, {}, { minReadySeconds: 5 })])
      const after = await live()
      const { uid, labels = {}, annotations = {} } = after.metadata
      assert.equal([uid, after.spec], [before.metadata.uid, before.spec])
      for (const mark of [...Object.keys(marks.labels ?? {}), ...Object.keys(marks.annotations ?? {})])
        assert.not.ok(mark in labels || mark in annotations, mark)
      assert.equal(appliedBy(after, ['spec', 'minReadySeconds']), [managerOf(applier.owner.id)])
      await applyAmongOthers(applier, [deployment(namespace)])
      assert.equal(appliedBy(await live(), ['spec', 'minReadySeconds']), [], 'what leaves Git goes')
    })

  it('is not restarted by what restarted it last, whoever had made it', async () => {
    for (const made of ['kubectl', 'kustomize-controller', 'argocd-controller']) {
      if (made === 'kubectl') await byHand(['apply'], deployment(namespace))
      else await make(deployment(namespace), made, 'Apply')
      await run('rollout', 'restart', 'deployment/web')
      const before = await live()
      assert.ok(appliedBy(before, [...TEMPLATE, RESTARTED_AT]).includes('kubectl-rollout'))
      const ours = createApplier(kube, namespace)
      assert.equal(said(await applyAmongOthers(ours, [deployment(namespace)])), ['Deployment web configured'])
      const after = await live()
      assert.equal(after.spec, before.spec, made)
      assert.equal(appliedBy(after, [...TEMPLATE, RESTARTED_AT]), ['kubectl-rollout'])
      await applyAmongOthers(ours, [deployment(namespace, {}, { replicas: 3 })])
      assert.equal(annotationsIn(await live()), annotationsIn(before), 'nor by a later commit')
      await kube.delete(kind, { name: 'web', namespace })
    }
  })

  it('is not restarted either where Argo CD restarted it', async () => {
    await make(deployment(namespace), 'argocd-controller', 'Update')
    const restart = { spec: { template: { metadata: { annotations: { [RESTARTED_AT]: '2026-08-01T10:00:00Z' } } } } }
    const before = await kube.patch(kind, { name: 'web', namespace }, restart, { manager: 'argocd-server' })
    await applyAmongOthers(applier, [deployment(namespace)])
    assert.equal((await live()).spec, before.spec)
  })

  it('keeps the restart, and loses what else was annotated there and Git has not', async () => {
    const annotations = { 'example.com/old': 'hand', [RESTARTED_AT]: '2026-08-01T10:00:00Z' }
    await make(deployment(namespace, {}, {}, { annotations }), 'kubectl-create', 'Update')
    await applyAmongOthers(applier, [deployment(namespace)])
    assert.equal(annotationsIn(await live()), { [RESTARTED_AT]: '2026-08-01T10:00:00Z' })
    assert.equal(appliedBy(await live(), [...TEMPLATE, RESTARTED_AT]), ['kubectl-create'])
  })

  it('keeps it in the template of a CronJob, too', async () => {
    const of = (template: object): AnyObject => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tick', namespace },
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: {
          spec: {
            template: {
              metadata: template,
              spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] },
            },
          },
        },
      },
    })
    const cronJobs = { group: 'batch', version: 'v1', kind: 'CronJob', plural: 'cronjobs', namespaced: true }
    const annotations = { [RESTARTED_AT]: '2026-08-01T10:00:00Z' }
    const before = await kube.create(cronJobs, of({ annotations }), { manager: 'kubectl-create' })
    await applyAmongOthers(applier, [of({})])
    const after = await kube.get(cronJobs, { name: 'tick', namespace })
    // Unlike that of a Deployment, its generation counts no annotations, of which ours come.
    assert.is(after?.metadata.generation, before.metadata.generation)
    assert.equal(valueAt(after, ['spec', 'jobTemplate', ...TEMPLATE]), annotations)
  })

  it('obeys Git where Git says when pods were restarted', async () => {
    for (const was of ['2026-08-01T10:00:00Z', '2026-09-01T10:00:00Z']) {
      const restarted = (at: string) => deployment(namespace, {}, {}, { annotations: { [RESTARTED_AT]: at } })
      const ours = createApplier(kube, namespace)
      await make(restarted(was), 'kustomize-controller', 'Apply')
      await applyAmongOthers(ours, [restarted('2026-09-01T10:00:00Z')])
      assert.equal(annotationsIn(await live()), { [RESTARTED_AT]: '2026-09-01T10:00:00Z' })
      await applyAmongOthers(ours, [deployment(namespace)])
      assert.is(annotationsIn(await live()), undefined, was)
      await kube.delete(kind, { name: 'web', namespace })
    }
  })

  it('is not restarted by going to another sync and back', async () => {
    const annotations = { [RESTARTED_AT]: '2026-08-01T10:00:00Z' }
    const [there, back] = [createApplier(kube, namespace), createApplier(kube, namespace)]
    await applyAmongOthers(there, [deployment(namespace, {}, {}, { annotations })])
    const before = await live()
    for (const taker of [back, there]) await applyAmongOthers(taker, [deployment(namespace)], { standing: () => 'releases' })
    assert.equal((await live()).spec, before.spec)
  })

  it('is taken in the version in which Git has it, and without what a controller is about', () => {
    const entry = (apiVersion: string, fieldsV1: object) => ({
      manager: 'argocd-controller',
      operation: 'Update',
      apiVersion,
      fieldsV1,
    })
    const [old, now] = [{ 'f:spec': { 'f:old': {} } }, { 'f:spec': { 'f:now': {} }, 'f:operation': {}, 'f:status': {} }]
    const managedFields = [entry('argoproj.io/v1', old), entry('argoproj.io/v2', now)]
    const manifest: AnyObject = { apiVersion: 'argoproj.io/v2', kind: 'Application', metadata: { name: 'web' } }
    const metadata = { ...manifest.metadata, managedFields }
    const [, owning] = takingOver({ ...manifest, metadata }, 'us', { manifest, predecessors: true }) ?? []
    const taken = { manager: managerOf('us'), operation: 'Apply', fieldsType: 'FieldsV1' }
    assert.equal(owning?.value, [{ ...taken, apiVersion: 'argoproj.io/v2', fieldsV1: { 'f:spec': { 'f:now': {} } } }])
  })
})
