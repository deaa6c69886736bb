import { match, ok } from 'uvu/assert'
import { type Environment, Environments } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'

type Unstable = NonNullable<Environment['spec']['unstableConfigurationFields']>

const credentials = { targetNamespace: 'team-a', apiURL: 'https://api.example.com:6443', clusterCredentialsSecret: 'credentials' }

describe('the policy for Environments', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('environment')
  })
  it.after(() => cluster.close())

  const environment = (name: string, unstable?: Unstable): Environment => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'Environment',
    metadata: { name, namespace },
    spec: {
      displayName: 'Production',
      deploymentStrategy: 'AppStudioAutomated',
      ...(unstable && { unstableConfigurationFields: unstable }),
    },
  })
  const create = (name: string, unstable?: Unstable) => cluster.kube.create(Environments, environment(name, unstable))
  const update = async (name: string, unstable: Unstable) => {
    await create(name)
    return cluster.kube.patch(Environments, { name, namespace }, { spec: { unstableConfigurationFields: unstable } })
  }
  const kubernetes = (ingressDomain?: string): Unstable => ({
    clusterType: 'Kubernetes',
    kubernetesCredentials: { ...credentials, ...(ingressDomain !== undefined && { ingressDomain }) },
  })
  const openShift = (ingressDomain?: string): Unstable => ({ ...kubernetes(ingressDomain), clusterType: 'OpenShift' })
  const at = (apiURL: string): Unstable => ({ clusterType: 'OpenShift', kubernetesCredentials: { ...credentials, apiURL } })

  const NO_INGRESS = /ingress domain cannot be empty if cluster is of type Kubernetes/
  const BAD_INGRESS =
    /invalid ingress domain: "Not_A_Domain": an ingress domain must consist of lower case alphanumeric characters, '-' or '\.', and must start and end with an alphanumeric character/
  const BAD_URL = /API URL must be an absolute URL starting with an 'https' scheme /

  it('W1 refuses a Kubernetes cluster without an ingress domain', async () => {
    match(await refusalOf(create('w1', kubernetes())), NO_INGRESS)
    match(await refusalOf(create('w1', kubernetes(''))), NO_INGRESS)
  })
  it('W2 refuses a bad ingress domain', async () => {
    match(await refusalOf(create('w2', kubernetes('Not_A_Domain'))), BAD_INGRESS)
  })
  it('W3 takes a good ingress domain', () => create('w3', kubernetes('apps.example.com')))
  it('W4 takes an Environment without credentials of its own', () => create('w4'))
  it('W5 takes OpenShift without an ingress domain', () => create('w5', openShift()))
  it('W6 refuses a bad ingress domain for OpenShift too', async () => {
    match(await refusalOf(create('w6', openShift('Not_A_Domain'))), BAD_INGRESS)
  })
  it('W7 takes a good name', () => create('w7-good-name'))
  it('W8 refuses a name that begins with an upper case letter', async () => {
    match(await refusalOf(create('Production')), /[Ii]nvalid/)
  })
  it('W9 refuses a name in camel case', async () => {
    match(await refusalOf(create('myProduction')), /[Ii]nvalid/)
  })
  it('W10 refuses a name of more than 63 characters', async () => {
    const name = 'a'.repeat(64)
    const words = await refusalOf(create(name))
    match(words, `invalid environment name: ${name}, an environment resource name must start with a lower case alphabetical`)
    match(words, 'be under 63 characters, and can only consist of lower case alphanumeric characters or ‘-’')
  })
  it('refuses a name with a dot, which is no DNS label', async () => {
    match(await refusalOf(create('team.production')), /invalid environment name: team\.production, /)
  })
  it('W11 refuses an API URL without a scheme', async () => {
    match(await refusalOf(create('w11', at('api.example.com'))), BAD_URL)
  })
  it('W12 refuses, on update, a Kubernetes cluster without an ingress domain', async () => {
    match(await refusalOf(update('w12', kubernetes())), NO_INGRESS)
  })
  it('W13 refuses, on update, a bad ingress domain', async () => {
    match(await refusalOf(update('w13', kubernetes('Not_A_Domain'))), BAD_INGRESS)
  })
  it('W14 takes, on update, a good ingress domain', () => update('w14', kubernetes('apps.example.com')))
  it('W15 takes, on update, an Environment without credentials of its own', async () => {
    await create('w15')
    await cluster.kube.patch(Environments, { name: 'w15', namespace }, { spec: { displayName: 'Still production' } })
  })
  it('W16 takes, on update, OpenShift without an ingress domain', () => update('w16', openShift()))
  it('W17 refuses, on update, a bad ingress domain for OpenShift too', async () => {
    match(await refusalOf(update('w17', openShift('Not_A_Domain'))), BAD_INGRESS)
  })
  it('W18 refuses, on update, an API URL without a scheme', async () => {
    match(await refusalOf(update('w18', at('api.example.com'))), BAD_URL)
  })

  for (const apiURL of ['http://api.example.com', 'smtp://api.example.com', 'https:', '/api', 'https://', 'https://bad host'])
    it(`refuses the API URL "${apiURL}"`, async () => {
      match(await refusalOf(create('bad-url', at(apiURL))), BAD_URL)
    })
  it('takes an empty API URL, as the seeds do', () => create('empty-url', at('')))

  it('lets finalizers go from what older rules let in', async () => {
    await cluster.kube.create(Environments, {
      ...environment('leaving'),
      metadata: { name: 'leaving', namespace, finalizers: ['example.com/wait'] },
    })
    await cluster.kube.delete(Environments, { name: 'leaving', namespace })
    const bad = { metadata: { finalizers: null }, spec: { unstableConfigurationFields: kubernetes() } }
    await cluster.kube.patch(Environments, { name: 'leaving', namespace }, bad)
    ok(!(await cluster.kube.get(Environments, { name: 'leaving', namespace })))
  })
})
