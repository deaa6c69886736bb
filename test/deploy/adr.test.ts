import { equal } from 'uvu/assert'
import { DeploymentTargetClaims, DeploymentTargetClasses, DeploymentTargets, Environments } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { apply } from '../support/verbs.ts'

/** As the seed document prints them: an object claimRef, an ellipsis for a URL, an en dash in the architecture. */
const TARGET = `
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTarget
metadata:
  name: prod-dt
spec:
  deploymentTargetClassName: isolation-level-namespace
  resources:
    requests:
      memory: 16Gi
      cpu: 8m
    limits:
      memory: 16Gi
      cpu: 8m
  arch: x86–64
  kubernetesCredentials:
    defaultNamespace: team-a--prod-dtc
    apiURL: …
    clusterCredentialsSecret: team-a--prod-dtc--secret
  claimRef:
    name: prod-dtc
status:
  phase: Bound
`
const CLAIM = `
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClaim
metadata:
  name: prod-dtc
spec:
  deploymentTargetClassName: isolation-level-namespace
  resources:
    requests:
      memory: 16Gi
      cpu: 8m
    limits:
      memory: 16Gi
      cpu: 8m
  arch: x86–64
status:
  phase: Bound
`
const classYaml = (name: string) => `
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClass
metadata:
  name: ${name}
spec:
  provisioner: appstudio.redhat.com/hypershift
  parameters:
    numOfNodes: 3
  reclaimPolicy: Delete
  allowTargetResourceExpansion: false
`
const ENVIRONMENT = `
apiVersion: appstudio.redhat.com/v1alpha1
kind: Environment
metadata:
  name: prod
spec:
  displayName: “Production for Team A”
  deploymentStrategy: AppStudioAutomated
  parentEnvironment: staging
  tags: [prod]
  configuration:
    target:
      deploymentTargetClaim:
        claimName: prod-dtc
`

describe('the YAML of the seed document', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('adr')
  })
  it.after(() => cluster.close())

  it('applies for a DeploymentTarget', async () => {
    await apply(kube, TARGET, { namespace })
    const stored = await kube.get(DeploymentTargets, { name: 'prod-dt', namespace })
    equal(stored?.spec.claimRef, { name: 'prod-dtc' })
    equal(stored?.spec.kubernetesCredentials.allowInsecureSkipTLSVerify, false)
    equal(stored?.spec.resources?.requests, { memory: '16Gi', cpu: '8m' })
    equal(stored?.spec.arch, 'x86–64')
  })
  it('applies for a DeploymentTargetClaim', async () => {
    await apply(kube, CLAIM, { namespace })
    const stored = await kube.get(DeploymentTargetClaims, { name: 'prod-dtc', namespace })
    equal(stored?.spec.deploymentTargetClassName, 'isolation-level-namespace')
  })
  it('applies for a DeploymentTargetClass, parameters and all', async () => {
    const name = `${namespace}-cluster-small`
    await apply(kube, classYaml(name))
    const stored = await kube.get(DeploymentTargetClasses, { name })
    await kube.delete(DeploymentTargetClasses, { name })
    equal(stored?.spec.parameters, { numOfNodes: 3 })
  })
  it('applies for an Environment', async () => {
    await apply(kube, ENVIRONMENT, { namespace })
    const stored = await kube.get(Environments, { name: 'prod', namespace })
    equal(stored?.spec.configuration?.target?.deploymentTargetClaim.claimName, 'prod-dtc')
    equal(stored?.spec.displayName, '“Production for Team A”')
  })
})
