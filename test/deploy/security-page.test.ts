import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { is, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { Namespaces, RoleBindings, ServiceAccounts } from '../../src/api/index.ts'
import { install } from '../runner/cluster.ts'
import { bindingOf, letBerthIn, untilMay } from '../support/builders/credentials.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'

const run = promisify(execFile)

/** `resource` or `resource "name"`, with the verbs that are allowed on it. */
type Rights = Map<string, Set<string>>

const PAGE = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
const TABLE = /<!-- rights -->\n\n([\s\S]*?)\n\n<!-- end of rights -->/

/** The lines of `kubectl auth can-i --list` that are about resources. */
function rightsIn(text: string): Rights {
  const rights: Rights = new Map()
  for (const line of text.split('\n').slice(1)) {
    const [, resource, names = '', verbs = ''] = /^(\S+) +\[[^\]]*\] +\[([^\]]*)\] +\[([^\]]*)\]$/.exec(line.trim()) ?? []
    if (resource === undefined) continue
    for (const name of names === '' ? [''] : names.split(' ')) {
      const of = name ? `${resource} "${name}"` : resource
      rights.set(of, new Set([...(rights.get(of) ?? []), ...verbs.split(' ')]))
    }
  }
  return rights
}

const less = (rights: Rights, others: Rights): Rights =>
  new Map(
    [...rights].flatMap(([of, verbs]) => {
      const left = [...verbs].filter((verb) => !others.get(of)?.has(verb))
      return left.length > 0 ? [[of, new Set(left)]] : []
    }),
  )

/** One row for all resources with the same verbs. */
function rowsOf(account: string, where: string, rights: Rights): string[] {
  const byVerbs = new Map<string, string[]>()
  for (const [of, verbs] of rights) {
    const key = [...verbs].sort().join(', ')
    byVerbs.set(key, [...(byVerbs.get(key) ?? []), of])
  }
  return [...byVerbs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([verbs, resources]) => `| ${account} | ${where} | ${verbs} | ${resources.sort().join(', ')} |`)
}

describe('docs/security.md', (it) => {
  const places = { onboarded: 'onboarded', space: 'space', closed: 'closed' }
  // Its own: on the one of all other tests somebody may give an account more for a while, as administrators do.
  let cluster: OwnControlPlane
  let kube: Kube
  it.before(async () => {
    cluster = await ownControlPlane({ nodes: 0 })
    kube = cluster.kube
    await install(await kubectl(), cluster.kubeconfig)
    for (const name of Object.values(places))
      await kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await letBerthIn(kube, places.onboarded)
    const operator = [{ kind: 'ServiceAccount' as const, name: 'berth-operator', namespace: 'berth-system' }]
    await kube.create(RoleBindings, bindingOf(places.space, 'berth-space-keeper', operator))
    const tokens = { resource: 'serviceaccounts', subresource: 'token', verb: 'create' }
    await untilMay(kube, places.space, 'system:serviceaccount:berth-system:berth-operator', tokens)
  })
  it.after(() => cluster?.remove())

  const listed = async (user: string, namespace: string): Promise<Rights> => {
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:berth-system', 'system:authenticated']
    const as = ['--as', user, ...groups.flatMap((group) => ['--as-group', group])]
    const { stdout } = await run(await kubectl(), [
      'auth',
      'can-i',
      '--list',
      '-n',
      namespace,
      ...as,
      '--kubeconfig',
      cluster.kubeconfig,
    ])
    return rightsIn(stdout)
  }

  it('says what each account may do, as kubectl auth can-i --list does', async () => {
    const rows = ['| Account | Where | May | With |', '| --- | --- | --- | --- |']
    const anybody = await listed('system:serviceaccount:berth-system:nobody', places.closed)
    for (const account of ['berth-operator', 'berth-kas', 'berth-proxy', 'berth-certificates']) {
      const user = `system:serviceaccount:berth-system:${account}`
      const everywhere = await listed(user, places.closed)
      const before = rows.length
      rows.push(...rowsOf(account, 'every namespace', less(everywhere, anybody)))
      for (const [where, namespace] of [
        ['onboarded namespaces', places.onboarded],
        ['spaces', places.space],
        ['`berth-credentials`', 'berth-credentials'],
        ['`berth-system`', 'berth-system'],
        ['`kube-system`', 'kube-system'],
      ] as const)
        rows.push(...rowsOf(account, where, less(await listed(user, namespace), everywhere)))
      ok(rows.length > before, account)
    }
    is(TABLE.exec(PAGE)?.[1], rows.join('\n'))
  })

  it('names every account that deploy/ makes', async () => {
    for (const { metadata } of await kube.list(ServiceAccounts, {
      namespace: 'berth-system',
      labels: 'app.kubernetes.io/part-of=berth',
    }))
      ok(PAGE.includes(`| ${metadata.name} |`), metadata.name)
    ok(await kube.get(Namespaces, { name: 'berth-credentials' }))
  })
})
