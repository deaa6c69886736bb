import { is, match, not } from 'uvu/assert'
import { conditionOf, type GitProject, GitProjects } from '../../../src/api/index.ts'
import { pathStatement } from '../../../src/kas/git-project-status/path.ts'
import { seconds, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'
import { createProject, project, runKas } from '../running-kas.ts'

const made = (namespace: string, name: string, second: number): GitProject => {
  const object = project(namespace, name, { url: 'https://example.com/shop', path: 'shop' })
  const creationTimestamp = `2030-01-01T00:00:0${second}Z`
  return { ...object, metadata: { ...object.metadata, uid: `${namespace}-${name}`, generation: 1, creationTimestamp } }
}

describe('the path of a GitProject', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('is said to be taken by the younger project only, and names no stranger', () => {
    const [first, near, far] = [made('home', 'first', 1), made('home', 'near', 2), made('away', 'far', 3)]
    const all = [far, near, first]
    const both = { holds: () => true }
    is(pathStatement(first, all, both), undefined)
    match(pathStatement(near, all, both)?.message ?? '', 'GitProject first, which is older')
    const told = pathStatement(far, all, both)
    is(told?.reason, 'PathTaken')
    not.match(told?.message ?? '', /home\/|first|near/)
  })

  it("is said to be somebody else's to whoever does not hold it, older or not, and he takes it from nobody", () => {
    const [squatter, owner] = [made('away', 'first', 1), made('home', 'second', 2)]
    const home = { holds: (namespace: string) => namespace === 'home' }
    const told = pathStatement(squatter, [squatter, owner], home)
    is(told?.reason, 'PathNotHeld')
    match(told?.message ?? '', 'does not begin with away/')
    is(pathStatement(owner, [squatter, owner], home), undefined)
  })

  it('is said by kas in a condition and one Event, and no longer when the older one is gone', async () => {
    const namespace = await cluster.namespace('kas')
    const url = 'http://127.0.0.1:1/x.git'
    await createProject(cluster.kube, namespace, 'first', { url, path: `${namespace}/shop` })
    // Times are exact to the second, and within one the UID decides.
    await eventually(async () => {
      const first = await cluster.kube.get(GitProjects, { name: 'first', namespace })
      return systemClock.now() - Date.parse(first?.metadata.creationTimestamp ?? '') > seconds(1)
    })
    const kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
    await createProject(cluster.kube, namespace, 'second', { url, path: `${namespace}/shop` })
    const path = ({ status }: GitProject) => conditionOf(status?.conditions, 'PathUnique')
    const second = (check: (object: GitProject) => unknown) =>
      expectObject(cluster.kube, GitProjects, { name: 'second', namespace }, check)
    const taken = await second((object) => is(path(object)?.reason, 'PathTaken'))
    match(path(taken)?.message ?? '', 'Give this one a path of its own')
    await eventually(async () => {
      const { items } = await cluster.kube.read<{ items: { reason: string; involvedObject: { name: string } }[] }>(
        `/api/v1/namespaces/${namespace}/events`,
      )
      const said = items.filter(({ reason }) => reason === 'PathTaken')
      return said.length === 1 && said[0]?.involvedObject.name === 'second'
    })
    const first = await cluster.kube.get(GitProjects, { name: 'first', namespace })
    is(first && path(first), undefined)
    await cluster.kube.delete(GitProjects, { name: 'first', namespace })
    await second((object) => is(path(object)?.status, 'True'))
    await kas.stop()
  })
})
