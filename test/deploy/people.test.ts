import { equal } from 'uvu/assert'
import { isAllowed } from '../../src/adapters/kube/index.ts'
import { bindUser } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

const OF_SPACES = ['berth-space-admin', 'berth-space-edit']
const BERTHS = [
  ...['berth.dev/gitprojects', 'berth.dev/agents', 'berth.dev/workspaces', 'toolchain.dev.openshift.com/spacerequests'],
  ...['appstudio.redhat.com/deploymenttargets', 'appstudio.redhat.com/deploymenttargetclaims'],
  ...['managed-gitops.redhat.com/gitopsdeployments', 'managed-gitops.redhat.com/gitopsdeploymentmanagedenvironments'],
]

describe('the roles of people', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('people')
    for (const role of ['view', 'edit', 'admin', ...OF_SPACES]) await bindUser(kube, namespace, `${role}@example.com`, role)
  })
  it.after(() => cluster.close())

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
    ['berth-space-admin', 'create', 'apps/deployments', true, 'that is what a space is for'],
    ['berth-space-admin', 'get', '/pods', true, 'who deploys looks at it'],
    ['berth-space-admin', 'create', 'rbac.authorization.k8s.io/rolebindings', true, 'admins of the cluster let others in'],
    ['berth-space-edit', 'create', 'apps/deployments', true, 'that is what a space is for'],
    ['berth-space-edit', 'create', 'rbac.authorization.k8s.io/rolebindings', false, 'editors of the cluster let nobody in'],
  ]
  for (const [person, verb, what, allowed, why] of table)
    it(`${allowed ? 'let' : 'do not let'} ${person} ${verb} ${what}, because ${why}`, async () => {
      // Bindings are heard of a moment later, and the cluster's own controller gathers the aggregated rules in its own time.
      if (allowed) await eventually(() => can(person, verb, what))
      else equal(await can(person, verb, what), false)
    })

  it('give the account of a space nothing of what Berth trusts', async () => {
    for (const role of OF_SPACES) {
      // Its rules have been gathered.
      await eventually(() => can(role, 'create', 'apps/deployments'))
      for (const kind of BERTHS)
        for (const verb of ['create', 'update', 'patch', 'delete', 'develop', 'administer'])
          equal(await can(role, verb, kind), false, `${role} ${verb} ${kind}`)
    }
  })
})
