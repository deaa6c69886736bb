import { ok } from 'uvu/assert'
import { GitOpsDeploymentManagedEnvironments, Secrets } from '../../src/api/index.ts'
import { managedEnvironment, managedSecret } from '../support/builders/environments.ts'
import { describe } from '../support/suite.ts'
import { expectObject } from '../support/verbs.ts'
import { bringNeighbours, type Neighbours } from './neighbours.ts'

/** Secrets, 280 MB as they are sent. */
const LARGE = 300
/** Repositories of a few kilobytes, each of which lists ten million folders in 20 MB. */
const CASCADES = 20
/** And 108 MB. */
const MANY = 900

/** What would fill the memory of a program, each at the largest size that is let through. */
describe('hostile: memory that has no end', (it) => {
  let beside: Neighbours
  it.before(async () => {
    beside = await bringNeighbours(['hoard'])
  })
  it.after(() => beside.berth.stop())

  it('takes no memory for Secrets that are large, or many', async () => {
    const { berth, live } = beside
    const { kube } = berth
    const before = berth.peakOf('operator')
    const secretOf = (name: string, bytes: number) => managedSecret('hoard', name, ''.padEnd(bytes, name))
    for (let at = 0; at < LARGE; at++) await kube.create(Secrets, secretOf(`large-${at}`, 700_000))
    const spec = { apiURL: 'https://127.0.0.1:1', credentialsSecret: 'large-0', allowInsecureSkipTLSVerify: true }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment('hoard', 'large-0', spec))
    const named = { name: 'large-0', namespace: 'hoard' }
    await expectObject(kube, GitOpsDeploymentManagedEnvironments, named, ({ status }) =>
      JSON.stringify(status?.conditions ?? []).includes('Secret large-0 is not read: '),
    )
    for (let at = 0; at < MANY; at++) await kube.create(Secrets, secretOf(`many-${at}`, 90_000))
    await berth.heard('hoard', 'NamespaceTooLarge')
    await live('beside Secrets')
    const grown = berth.peakOf('operator') - before
    ok(grown < 192, `${grown} MiB more`)
  })

  it('takes no memory for a folder that has no end', async () => {
    const { followed, told, live } = beside
    const repository = await followed('evil', 'crowd')
    await repository.crowd(10_000_000)
    await told('crowd', /git took too much memory for it, and was ended/)
    await live('beside a folder')
  })

  it('takes no memory for folders within folders, in however many repositories', async () => {
    const { berth, followed, told, live } = beside
    const before = berth.peakOf('kas')
    const names = Array.from({ length: CASCADES }, (_, at) => `cascade-${at}`)
    for (const name of names) await (await followed('evil', name)).cascade(10_000, 1000)
    for (const name of names) await told(name, /no files/)
    await live('beside folders within folders')
    const long = await followed('evil', 'long')
    await long.cascade(100_000, 1000)
    await told('long', /git ls-tree says more than is read/)
    await live('beside a long list')
    const grown = berth.peakOf('kas') - before
    ok(grown < 512, `${grown} MiB more`)
  })
})
