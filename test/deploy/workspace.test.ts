import { equal, match } from 'uvu/assert'
import { type Workspace, type WorkspaceClass, WorkspaceClasses, Workspaces } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { workspace, workspaceClass } from '../support/workspaces.ts'

describe('the schemas of workspaces', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('schema')
  })
  it.after(() => cluster.close())

  const create = (name: string, spec: Workspace['spec'] = {}) => kube.create(Workspaces, workspace(namespace, name, spec))
  const change = (name: string, spec: object) => kube.patch(Workspaces, { name, namespace }, { spec })
  const tryClass = (spec: WorkspaceClass['spec']) =>
    kube.create(WorkspaceClasses, workspaceClass(namespace, spec), { dryRun: true })

  it('let a workspace run unless it says otherwise', async () => {
    equal((await create('plain')).spec.desiredState, 'Running')
  })
  it('let the desired state change until it is Terminated', async () => {
    await create('ended')
    for (const desiredState of ['Stopped', 'RestartRequested', 'Running', 'Terminated']) await change('ended', { desiredState })
    match(await refusalOf(change('ended', { desiredState: 'Running' })), /Terminated is final; make another workspace/)
  })
  it('keep project, class, target and variables as they were at creation', async () => {
    await create('fixed', {
      workspaceClassName: 'default',
      project: { gitProject: 'shop' },
      target: { claimName: 'development' },
      variables: [{ name: 'COLOR', value: 'blue' }],
    })
    match(await refusalOf(change('fixed', { project: { ref: 'other' } })), /project cannot change/)
    match(await refusalOf(change('fixed', { workspaceClassName: 'other' })), /workspaceClassName cannot change/)
    match(await refusalOf(change('fixed', { target: null })), /target cannot change/)
    match(await refusalOf(change('fixed', { variables: [{ name: 'COLOR', value: 'red' }] })), /variables are frozen/)
  })
  it('refuse a variable with two values, or none', async () => {
    const secretKeyRef = { name: 's', key: 'k' }
    match(
      await refusalOf(create('twice', { variables: [{ name: 'A', value: 'x', secretKeyRef }] })),
      /either value or secretKeyRef/,
    )
    match(await refusalOf(create('never', { variables: [{ name: 'A' }] })), /either value or secretKeyRef/)
  })
  it('refuse a devfile that is in two places', async () => {
    match(await refusalOf(create('both', { devfile: { inline: 'x', path: 'y' } })), /either inline or path/)
  })
  it('refuse a name that is no part of a host name', async () => {
    match(await refusalOf(create('a'.repeat(64))), /becomes part of its host name/)
    match(await refusalOf(create('my.workspace')), /becomes part of its host name/)
  })

  it('fill a class with the defaults of the seeds', async () => {
    const { spec } = await tryClass({})
    equal(spec.networkPolicy, {
      enabled: true,
      egress: [{ allow: '0.0.0.0/0', except: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] }],
    })
    equal([spec.workspacesQuota, spec.workspacesPerUserQuota], [-1, -1])
    equal([spec.maxLifeHours, spec.idle?.stopAfterMinutes, spec.schedule], [8760, 0, undefined])
    equal([spec.maxActiveHoursBeforeStop, spec.maxStoppedHoursBeforeTermination], [36, 744])
    equal([spec.proxy?.httpEnabled, spec.proxy?.sshEnabled], [true, true])
    equal([spec.allowPrivilegeEscalation, spec.useKubernetesUserNamespaces, spec.defaultRuntimeClass], [false, false, ''])
  })
  const quantities = { cpu: 1, memory: '1Gi' }
  const refused: [WorkspaceClass['spec'], RegExp][] = [
    [{ maxActiveHoursBeforeStop: 8760, maxStoppedHoursBeforeTermination: 1 }, /together must not exceed 8760/],
    [{ maxActiveHoursBeforeStop: 0 }, /maxActiveHoursBeforeStop/],
    [{ allowPrivilegeEscalation: true }, /allowPrivilegeEscalation needs useKubernetesUserNamespaces or a defaultRuntimeClass/],
    [
      { sharedNamespace: 'all', maxResourcesPerWorkspace: { requests: quantities, limits: quantities } },
      /must be empty with a sharedNamespace/,
    ],
    [{ sharedNamespace: 'all', imagePullSecrets: [{ name: 's', namespace: 'other' }] }, /must be in that namespace/],
    [{ defaultResourcesPerWorkspaceContainer: { requests: quantities } }, /give both requests and limits, or neither/],
    [{ labels: { 'app.kubernetes.io/name': 'x' } }, /are reserved/],
    [{ annotations: { 'agent.gitlab.com/id': '1' } }, /are reserved/],
    [{ networkPolicy: { egress: [{ allow: 'everywhere' }] } }, /must be an address range/],
    [{ dnsZone: 'not a zone' }, /dnsZone/],
    [{ workspacesQuota: -2 }, /workspacesQuota/],
    [{ workspacesPerUserQuota: -2 }, /workspacesPerUserQuota/],
    [{ maxStoppedHoursBeforeTermination: 8761 }, /maxStoppedHoursBeforeTermination/],
    [{ maxLifeHours: 0 }, /maxLifeHours/],
    [{ schedule: { timeZone: 'UTC' } }, /give start, stop, or both/],
    [{ dnsZone: 'a'.repeat(190) }, /dnsZone/],
    [{ defaultRuntimeClass: 'Not A Class' }, /defaultRuntimeClass/],
    [{ sharedNamespace: 'Not_A_Namespace' }, /sharedNamespace/],
    [{ proxy: { namespace: 'Not_A_Namespace' } }, /proxy\.namespace/],
    [{ imagePullSecrets: [{ name: 'Not_A_Name', namespace: 'other' }] }, /imagePullSecrets/],
    [{ networkPolicy: { egress: [{ allow: '10.0.0.0/8', except: ['nowhere'] }] } }, /must list address ranges/],
    [{ networkPolicy: { namespaces: ['Not_A_Namespace'] } }, /networkPolicy\.namespaces/],
    [{ labels: { 'a b': 'x' } }, /names of labels are at most 63/],
    [{ labels: { team: 'a b' } }, /values of labels are at most 63/],
    [{ annotations: { 'a b': 'x' } }, /names of annotations are at most 63/],
    [
      { maxResourcesPerWorkspace: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '1500m', memory: '1Gi' } } },
      /requests\.cpu must not be more than limits\.cpu/,
    ],
    [
      { defaultResourcesPerWorkspaceContainer: { requests: { cpu: 1, memory: '2Gi' }, limits: { cpu: 1, memory: '1Gi' } } },
      /requests\.memory must not be more than limits\.memory/,
    ],
  ]
  for (const [spec, words] of refused)
    it(`refuse a class with ${JSON.stringify(spec)}`, async () => {
      match(await refusalOf(tryClass(spec)), words)
    })
  it('let a class gain privileges in user namespaces', () =>
    tryClass({ allowPrivilegeEscalation: true, useKubernetesUserNamespaces: true, labels: { 'team.example.com/x': 'y' } }))
})
