import { equal, is, match, not, ok } from 'uvu/assert'
import {
  ConfigMaps,
  type Deployment,
  Deployments,
  NetworkPolicies,
  Secrets,
  type WorkspaceSpec,
} from '../../../../src/api/index.ts'
import { type Devfile, parseDevfile } from '../../../../src/devfile/index.ts'
import { desiredObjects, type WorkspacePlan } from '../../../../src/operator/workspace/desired/index.ts'
import { type CopiedSecret, gitPlanOf } from '../../../../src/operator/workspace/git/index.ts'
import { Failure } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'

const KAS = 'https://kas.berth-system.svc:8156'

const read = await parseDevfile('schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: tools:1 } }]')

function plan(spec: WorkspaceSpec = {}, copied?: CopiedSecret, url = 'https://git.example.com/team/shop.git'): WorkspacePlan {
  const workspace = {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'web', namespace: 'team-a', uid: '1234' },
    spec: { owner: 'alice@example.com', project: { gitProject: 'shop' }, ...spec },
  }
  if (!('devfile' in read)) throw new Failure('internal', 'no devfile')
  const settings = { projectCloner: { image: 'example.com/git:1' } }
  const git = gitPlanOf(workspace, { url, path: 'team/shop' }, { settings, git: { kas: KAS, kasCa: 'PEM' }, copied })
  return { workspace, settings, devfile: read.devfile, namespace: 'space', variables: {}, git }
}
const pod = (given: WorkspacePlan) => desiredObjects(given).deployment.spec?.template.spec
const digests = (given: WorkspacePlan) => Object.values(desiredObjects(given).deployment.metadata.annotations ?? {}).join(' ')

describe('workspace: objects for Git', (it) => {
  it('clone before anything else, with the image of the class and the rights of every container', () => {
    const { initContainers: [cloner] = [], containers: [tools] = [] } = pod(plan()) ?? {}
    is(cloner?.image, 'example.com/git:1')
    equal(cloner?.command, ['sh', '/.workspace-data/git/clone.sh'])
    equal(cloner?.securityContext, tools?.securityContext)
    is(tools?.env?.find(({ name }) => name === 'PROJECT_SOURCE')?.value, '/projects/shop')
    for (const container of [cloner, tools])
      is(container?.env?.find(({ name }) => name === 'GIT_CONFIG_SYSTEM')?.value, '/.workspace-data/git/gitconfig')
  })

  it('have every other pod with the projects wait for the clone, by the same image and limits', async () => {
    const apart = (await parseDevfile(`schemaVersion: 2.2.0
components:
  - { name: tools, container: { image: tools:1 } }
  - { name: db, container: { image: db:1, dedicatedPod: true, mountSources: true } }
  - { name: cache, container: { image: cache:1, dedicatedPod: true, mountSources: false } }
`)) as { devfile: Devfile }
    const podsBeside = (form?: number) =>
      desiredObjects({ ...plan(), ...apart, form }).pieces.flatMap((piece) =>
        piece.kind === Deployments ? [(piece.object as Deployment).spec?.template.spec] : [],
      )
    const [db, cache] = podsBeside()
    const { initContainers: [cloner] = [] } = pod(plan()) ?? {}
    equal(db?.initContainers, [
      { ...cloner, name: 'berth-clone-awaited', command: ['sh', '/.workspace-data/git/await-clone.sh'] },
    ])
    is(cache?.initContainers, undefined)
    is(podsBeside(0)[0]?.initContainers, undefined)
  })

  it('have a token for this workspace and nobody else, and the way to kas open', () => {
    const volume = pod(plan())?.volumes?.find(({ name }) => name === 'workspace-git')
    const token = volume?.projected?.sources?.find(({ serviceAccountToken }) => serviceAccountToken)?.serviceAccountToken
    is(token?.audience, 'berth-git/1234')
    is(token?.expirationSeconds, 3600)
    const { pieces } = desiredObjects(plan())
    const files = pieces.find(({ kind }) => kind === ConfigMaps)?.object
    match(JSON.stringify(files), `"kas-url":"${KAS}/git/team-a/web"`)
    match(JSON.stringify(files), '"kas-ca.crt":"PEM"')
    match(JSON.stringify(pieces.find(({ kind }) => kind === NetworkPolicies)), '"port":8156')
  })

  it('name the user where the clone goes by SSH, and nowhere else', () => {
    const url = 'ssh://git@git.example.com/team/shop.git'
    const mounts = (given: WorkspacePlan) =>
      [...(pod(given)?.initContainers ?? []), ...(pod(given)?.containers ?? [])].flatMap(({ name, volumeMounts = [] }) =>
        volumeMounts.flatMap(({ mountPath, subPath }) => (mountPath === '/etc/passwd' ? [`${name} ${subPath}`] : [])),
      )
    equal(mounts(plan({}, undefined, url)), ['berth-clone passwd'])
    equal(mounts({ ...plan({}, undefined, url), form: 0 }), [])
    equal(mounts(plan()), [])
    const override = { spec: { securityContext: { runAsUser: 1234 } } }
    const own = plan({}, undefined, url)
    const other = { ...own, devfile: { ...own.devfile, attributes: { 'pod-overrides': override } } }
    const files = JSON.stringify(desiredObjects(other).pieces.find(({ kind }) => kind === ConfigMaps))
    match(files, 'user-5001:x:5001:0::/tmp:/bin/sh')
    match(files, 'user-1234:x:1234:0::/tmp:/bin/sh')
  })

  it('say nothing of kas where the Secret is copied', () => {
    const copied = { data: { password: 'cGFzcw==' }, version: '7' }
    const given = plan({ git: { delivery: 'ByCopy', credentialsSecretRef: { name: 'own' } } }, copied)
    const text = JSON.stringify(desiredObjects(given))
    not.match(text, 'serviceAccountToken')
    not.match(text, '"kas-url":')
    const copy = desiredObjects(given).pieces.find(({ kind }) => kind === Secrets)?.object
    is(copy?.metadata.name, 'workspace-web-git')
    ok(pod(given)?.volumes?.some(({ secret }) => secret?.secretName === 'workspace-web-git' && secret.optional))
  })

  it('tell one Secret from the next by its version, never by what it holds', () => {
    const spec = { git: { credentialsSecretRef: { name: 'own' } } }
    const of = (password: string, version: string) => digests(plan(spec, { data: { password }, version }))
    is(of('a', '1'), of('b', '1'))
    is.not(of('a', '1'), of('a', '2'))
    equal(pod(plan(spec, { data: {}, version: '1' })), pod(plan(spec, { data: { password: 'x' }, version: '2' })))
  })

  it('are none for a project that cannot be cloned', () => {
    const given = plan({}, undefined, 'file:///etc')
    is(given.git, undefined)
    is(pod(given)?.initContainers, undefined)
  })
})
