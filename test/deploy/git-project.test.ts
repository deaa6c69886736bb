import { match } from 'uvu/assert'
import { ConfigMaps, GitProjects } from '../../src/api/index.ts'
import { createProject } from '../kas/running-kas.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

describe('the paths of GitProjects', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const url = 'https://git.example.com/x.git'
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('paths')
  })
  it.after(() => cluster.close())

  const list = (prefixes: string | null) =>
    kube.patch(ConfigMaps, { name: 'berth-project-paths', namespace: 'berth-system' }, { data: { [namespace]: prefixes } })
  const made = (name: string, path: string) => createProject(kube, namespace, name, { url, path })

  it('begin with their namespace, and the refusal says how to write them', async () => {
    await made('own', `${namespace}/deep/own`)
    const foreign = await refusalOf(made('foreign', 'platform/base'))
    match(foreign, `spec.path "platform/base" does not begin with ${namespace}/; write ${namespace}/foreign, or ask`)
    for (const path of [namespace, `${namespace}-b/x`, `x/${namespace}/y`])
      match(await refusalOf(made('foreign', path)), 'does not begin with')
    const moved = kube.patch(GitProjects, { name: 'own', namespace }, { spec: { path: 'platform/base' } })
    match(await refusalOf(moved), 'does not begin with')
  })

  it('begin with what the platform lists for the namespace; what had such a path before keeps it, and only that', async () => {
    const listed = `acme-${namespace}`
    await list(`\n  ${listed}/base/ \nother-${namespace}\n`)
    await eventually(() => made('listed', `${listed}/base/shop`))
    await made('exact', `other-${namespace}`)
    match(await refusalOf(made('beside', `${listed}/baseline`)), 'does not begin with')
    await list(null)
    await eventually(async () =>
      (await refusalOf(made('late', `${listed}/base/late`)).catch(() => '')).includes('does not begin'),
    )
    await kube.patch(GitProjects, { name: 'listed', namespace }, { spec: { url: 'https://git.example.com/y.git' } })
    const moved = kube.patch(GitProjects, { name: 'listed', namespace }, { spec: { path: `${listed}/base/other` } })
    match(await refusalOf(moved), 'does not begin with')
  })
})
