import { ConfigMaps, type GitOpsDeployment } from '../../src/api/index.ts'
import type { TestRepository } from '../support/git-host.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

export const mapOf = (data: Record<string, string>): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data })

/** An installation with an attacker in the namespace `evil`, and a tenant beside whose pushes go live all the while. */
export interface Neighbours {
  berth: Installation
  /** A repository with a folder of this name. */
  repositoryOf(namespace: string, name: string): Promise<TestRepository>
  /** The folder of this name is brought to the namespace. */
  followed(namespace: string, name: string, spec?: Partial<GitOpsDeployment['spec']>): Promise<TestRepository>
  /** What the other tenant pushes is brought into his namespace. */
  live(is: string): Promise<void>
  /** Waits until the attacker's deployment says so. */
  told(name: string, words: RegExp): Promise<void>
}

export async function bringNeighbours(others: readonly string[] = []): Promise<Neighbours> {
  const berth = await bringUp(['team-a', 'evil', ...others])
  const repositoryOf = (namespace: string, name: string) =>
    berth.repository(namespace, name, { [`${name}/app.yaml`]: mapOf({ is: 'new' }) })
  const followed: Neighbours['followed'] = async (namespace, name, spec = {}) => {
    const repository = await repositoryOf(namespace, name)
    await berth.follow(namespace, name, { source: sourceOf(repository.url, { path: name }), ...spec })
    return repository
  }
  const app = await followed('team-a', 'app')
  const live = async (is: string) => {
    await app.commit({ 'app/app.yaml': mapOf({ is }) })
    await expectObject(berth.kube, ConfigMaps, { name: 'app', namespace: 'team-a' }, ({ data }) => data?.is === is)
  }
  await live('first')
  return { berth, repositoryOf, followed, live, told: (name, words) => berth.told('evil', name, words) }
}
