import { equal } from 'uvu/assert'
import { isAllowed } from '../../src/adapters/kube/index.ts'
import { RoleBindings } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

describe('the roles of people', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('people')
    for (const role of ['view', 'edit', 'admin']) await bind(role)
  })
  it.after(() => cluster.close())

  const bind = (role: string) =>
    kube.create(RoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: role, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `${role}@example.com` }],
    })
  const can = (person: string, verb: string, what: string) => {
    const [group = '', resource = '', subresource] = what.split('/')
    const subject = { user: `${person}@example.com`, groups: ['system:authenticated'] }
    return isAllowed(kube, subject, { namespace, verb, group, resource, subresource })
  }

  const table: [person: string, verb: string, what: string, allowed: boolean, why: string][] = [
    ['anybody', 'list', 'appstudio.redhat.com/deploymenttargetclasses', true, 'who claims has to know what there is'],
    ['anybody', 'create', 'appstudio.redhat.com/deploymenttargetclasses', false, 'classes are the offer of the platform'],
    ['anybody', 'list', 'appstudio.redhat.com/deploymenttargetclaims', false, 'a namespace is not public'],
    ['view', 'watch', 'appstudio.redhat.com/deploymenttargets', true, 'who may look may look at targets'],
    ['view', 'create', 'appstudio.redhat.com/deploymenttargetclaims', false, 'who may look may not ask'],
    ['edit', 'create', 'appstudio.redhat.com/deploymenttargetclaims', true, 'that is the daily work'],
    ['edit', 'patch', 'managed-gitops.redhat.com/gitopsdeployments', true, 'that too'],
    ['edit', 'create', 'berth.dev/workspaces', true, 'and that'],
    ['edit', 'patch', 'appstudio.redhat.com/deploymenttargets/status', false, 'status is written by Berth alone'],
    ['edit', 'get', 'berth.dev/agents', true, 'who deploys wants to see what became of it'],
    ['view', 'get', 'berth.dev/agents', false, 'a digest that is copied ends the connections of its Agent'],
    ['edit', 'create', 'berth.dev/gitprojects', false, 'grants are a matter of trust'],
    ['admin', 'patch', 'berth.dev/agents', true, 'who leads the namespace grants'],
    ['admin', 'create', 'berth.dev/spacetiers', false, 'tiers are the platform engineers'],
  ]
  for (const [person, verb, what, allowed, why] of table)
    it(`${allowed ? 'let' : 'do not let'} ${person} ${verb} ${what}, because ${why}`, async () => {
      // Bindings are heard of a moment later, and the cluster's own controller gathers the aggregated rules in its own time.
      if (allowed) await eventually(() => can(person, verb, what))
      else equal(await can(person, verb, what), false)
    })
})
