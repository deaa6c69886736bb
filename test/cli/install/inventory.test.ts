import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  ClusterRoles,
  ConfigMaps,
  CustomResourceDefinitions,
  Namespaces,
  PART_OF_BERTH,
  Services,
  WorkspaceClasses,
} from '../../../src/api/index.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { berth, findingIn, findingsIn } from '../berth.ts'

const VALUES = 'image: registry.example.com/berth:1'
const namespace = 'berth-system'

describe('the list of what is installed', (it) => {
  let plane: OwnControlPlane
  let folder: string
  let tool: string
  it.before(async () => {
    plane = await ownControlPlane({ nodes: 1 })
    folder = await mkdtemp(join(tmpdir(), 'berth-inventory-'))
    tool = await kubectl()
    const { code, stderr } = await install()
    assert.is(code, 0, stderr)
  })
  it.after(async () => {
    await plane.remove()
    await rm(folder, { recursive: true })
  })

  const install = ({ by = tool, words = ['--yes'] }: { by?: string; words?: string[] } = {}) =>
    berth(['install', '--values', '-', '--apply', ...words, '--kubeconfig', plane.kubeconfig], {
      env: { BERTH_KUBECTL: by },
      input: VALUES,
    })
  const ref = { name: 'berth-inventory', namespace }
  const listed = async () => (await plane.kube.get(ConfigMaps, ref))?.data?.objects ?? ''
  const list = (objects: string) => plane.kube.patch(ConfigMaps, ref, { data: { objects } })
  const role = (name: string, labels: Record<string, string>) =>
    plane.kube.create(ClusterRoles, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, labels },
      rules: [],
    })
  const isRole = async (name: string) => (await plane.kube.get(ClusterRoles, { name })) !== undefined
  const makeNamespace = (name: string) =>
    plane.kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: PART_OF_BERTH } })
  const inventoryFound = async () => {
    const { stdout } = await berth(['doctor', '--kubeconfig', plane.kubeconfig, '-o', 'json'])
    return findingsIn(stdout).filter(({ check }) => check === 'inventory').length === 1
      ? findingIn(stdout, 'inventory').message
      : stdout
  }

  it('names what an earlier version had, which goes, also after an interruption; what is of others stays', async () => {
    await role('berth-earlier', PART_OF_BERTH)
    await role('somebody-elses', {})
    await makeNamespace('earlier')
    const roles = ['berth-earlier', 'somebody-elses'].map((name) => `rbac.authorization.k8s.io/v1 ClusterRole ${name}`)
    const before = await listed()
    await list([before, ...roles, 'v1 Namespace earlier'].join('\n'))

    const failing = join(folder, 'kubectl')
    await writeFile(failing, `#!/bin/sh\n${tool} "$@" || exit 1\ncase " $* " in *" apply "*) echo cut off >&2; exit 1;; esac\n`)
    await chmod(failing, 0o755)
    const interrupted = await install({ by: failing })
    assert.is.not(interrupted.code, 0)
    assert.match(interrupted.stderr, 'The same command goes on where it was.')
    assert.ok(await isRole('berth-earlier'))

    const { code, stderr } = await install()
    assert.is(code, 0, stderr)
    assert.equal(
      stderr.split('\n').filter((line) => line.startsWith('Removed')),
      ['Removed ClusterRole berth-earlier.'],
    )
    assert.ok(await isRole('somebody-elses'))
    assert.ok(await plane.kube.get(Namespaces, { name: 'earlier' }))
    assert.is(await listed(), before)
    assert.not.match((await install()).stderr, 'Removed')
  })

  it('is what the doctor looks for, also for what binds a program', async () => {
    assert.match(await inventoryFound(), /^all \d+ objects of the installation are there$/)
    const binding = await plane.kube.resolve('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding')
    if (binding === undefined) throw new Error('there are no policies')
    await plane.kube.delete(binding, { name: 'kas.berth.dev' })
    assert.is(await inventoryFound(), 'ValidatingAdmissionPolicyBinding kas.berth.dev was installed, and is missing')
    assert.is((await install()).code, 0)
    assert.match(await inventoryFound(), /^all \d+ objects of the installation are there$/)
  })

  it('that somebody has broken is told with its line', async () => {
    const before = await listed()
    await list(`${before}\nrm -rf everything`)
    const { code, stderr } = await install()
    assert.is(code, 7)
    assert.match(stderr, `ConfigMap ${namespace}/berth-inventory has a line that names no object: rm -rf everything`)
    await list(before)
  })

  it('is not put in the place of a newer version before it was said what objects lose', async () => {
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/newer'
    const value = { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } }
    await plane.kube.patch(CustomResourceDefinitions, { name: 'workspaceclasses.berth.dev' }, [{ op: 'add', path, value }])
    const spec = { maxLifeHours: 9, newer: [{ name: 'x' }] }
    const newer = { apiVersion: 'berth.dev/v1alpha1', kind: 'WorkspaceClass', metadata: { name: 'newer' }, spec }
    await eventually(async () => 'newer' in (await plane.kube.apply(WorkspaceClasses, newer, { manager: 'test' })).spec)
    const hasNewer = async () => 'newer' in ((await plane.kube.get(WorkspaceClasses, { name: 'newer' }))?.spec ?? {})

    const { code, stderr } = await install({ words: [] })
    assert.is(code, 7)
    assert.match(
      stderr,
      'Objects have fields that this version does not know, and would lose them:\n  spec.newer of WorkspaceClass newer\n',
    )
    assert.match(stderr, 'nothing was changed')
    assert.ok(await hasNewer())
    assert.is((await install()).code, 0)
    assert.not.ok(await hasNewer())
  })

  it('is what is removed, with the namespace of Berth, and without namespaces that it names', async () => {
    await role('berth-earlier', PART_OF_BERTH)
    const metadata = { name: 'earlier', namespace, labels: PART_OF_BERTH }
    await plane.kube.create(Services, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } })
    const more = [
      'rbac.authorization.k8s.io/v1 ClusterRole berth-earlier',
      'rbac.authorization.k8s.io/v1 ClusterRole somebody-elses',
      `v1 Service ${namespace}/earlier`,
      'v1 Namespace earlier',
    ]
    await list([await listed(), ...more].join('\n'))
    const { code, stdout, stderr } = await berth(['uninstall', '--yes', '--kubeconfig', plane.kubeconfig])
    assert.is(code, 0, stderr)
    assert.not.match(stdout, `Namespace ${namespace}, with what is not of Berth`)
    assert.is(await plane.kube.get(Namespaces, { name: namespace }), undefined)
    assert.not.ok(await isRole('berth-earlier'))
    assert.ok(await isRole('somebody-elses'))
    assert.is((await plane.kube.get(Namespaces, { name: 'earlier' }))?.metadata.deletionTimestamp, undefined)
  })
})
