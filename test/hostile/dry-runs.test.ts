import { equal, is, match, not } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  ConfigMaps,
  CoreEvents,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  Secrets,
} from '../../src/api/index.ts'
import { allow, bindUser, untilMay } from '../support/builders/credentials.ts'
import { configMap } from '../support/builders/snapshots.ts'
import type { TestRepository } from '../support/git-host.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, filesOf, type Installation, sourceOf } from './installation.ts'

/** What stands in Secrets by Git and in the cluster, now and before. None is a part of another. */
const WORDS = ['first-in-git', 'second-in-git', 'from-the-cluster', 'by-hand', 'of-no-kind']
const base64 = (plain: string) => Buffer.from(plain).toString('base64')
const secret = (stringData: Record<string, unknown>, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'guarded' },
  stringData,
  ...rest,
})

/** Carl sees the deployments of team-a and may ask for dry runs of them. He may read no Secret, and neither the repository. */
describe('hostile: dry runs of Secrets', (it) => {
  let berth: Installation
  let carl: Kube
  let vault: TestRepository
  it.before(async () => {
    berth = await bringUp(['team-a'])
    const { group, plural: resource } = GitOpsDeploymentSyncRuns
    await allow(berth.kube, 'team-a', 'carl', { group, resource, verbs: ['create'] })
    await bindUser(berth.kube, 'team-a', 'carl', 'view')
    await untilMay(berth.kube, 'team-a', 'carl', { verb: 'list', resource: 'events' })
    carl = berth.as('carl')
    await berth.kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'values', namespace: 'team-a' },
      stringData: { word: 'from-the-cluster' },
    })
    vault = await berth.repository('team-a', 'vault', {
      'map.yaml': configMap('shown', { url: 'https://x:${word}@example.com' }),
      'secret.yaml': secret({ word: 'first-in-git', same: 'first-in-git' }),
    })
    const variables = { from: [{ kind: 'Secret', name: 'values' }] } as const
    await berth.follow('team-a', 'vault', { source: sourceOf(vault.url), variables: { from: [...variables.from] } })
    await expectObject(berth.kube, Secrets, { name: 'guarded', namespace: 'team-a' }, () => true)
    await expectObject(berth.kube, ConfigMaps, { name: 'shown', namespace: 'team-a' }, ({ data }) =>
      data?.url?.includes('from-the'),
    )
    await berth.kube.patch(GitOpsDeployments, { name: 'vault', namespace: 'team-a' }, { spec: { suspend: true } })
    await berth.told('team-a', 'vault', /Suspended/)
  })
  it.after(() => berth.stop())

  /** What Carl is told of a commit with this Secret in it, and another use of the variable. */
  const dryRunOf = async (name: string, object: object) => {
    const map = configMap('shown', { url: 'https://y:${word}@example.com' })
    const revisionID = await vault.commit(filesOf({ 'secret.yaml': object, 'map.yaml': map }))
    const run: GitOpsDeploymentSyncRun = {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeploymentSyncRun',
      metadata: { name, namespace: 'team-a' },
      spec: { gitopsDeploymentName: 'vault', dryRun: true, revisionID },
    }
    await carl.create(GitOpsDeploymentSyncRuns, run)
    const { status } = await expectObject(carl, GitOpsDeploymentSyncRuns, run.metadata, ({ status: now }) =>
      ['Succeeded', 'Failed'].includes(now?.phase ?? ''),
    )
    return { status, revisionID }
  }
  const look = async (name: string, object: object) => {
    const { status, revisionID } = await dryRunOf(name, object)
    is(status?.revision, revisionID, JSON.stringify(status?.conditions))
    const of = (wanted: string) => status?.dryRun?.objects?.find(({ kind }) => kind === wanted)
    return { secret: of('Secret'), map: of('ConfigMap') }
  }
  const assertHidden = async (...more: string[]) => {
    const shown = [
      ...more,
      JSON.stringify(await carl.list(GitOpsDeploymentSyncRuns, { namespace: 'team-a' })),
      JSON.stringify(await carl.list(GitOpsDeployments, { namespace: 'team-a' })),
      JSON.stringify(await carl.list(CoreEvents, { namespace: 'team-a' })),
      berth.logOf('operator'),
      berth.logOf('kas'),
    ]
    for (const text of shown) for (const word of WORDS) for (const written of [word, base64(word)]) not.match(text, written)
  }

  it('tell which fields would change, and *** in place of what is there and of what would be', async () => {
    match(await refusalOf(carl.get(Secrets, { name: 'guarded', namespace: 'team-a' })), 'cannot get resource "secrets"')
    const guarded = { name: 'guarded', namespace: 'team-a' }
    await berth.kube.patch(Secrets, guarded, { data: { word: base64('by-hand') } })
    const second = 'second-in-git'
    const commit = secret({ word: second, more: second }, { data: { bytes: base64(second) } })
    const { secret: told, map } = await look('changed', commit)
    equal(told?.fields?.map(({ path, from, to }) => [path, from, to]).sort(), [
      ['/data/bytes', undefined, '"***"'],
      ['/data/more', undefined, '"***"'],
      ['/data/same', '"***"', undefined],
      ['/data/word', '"***"', '"***"'],
    ])
    equal(map?.fields, [{ path: '/data/url', from: '"***"', to: '"***"' }])
    const diff = await berth.berth('diff', 'vault', '-n', 'team-a').catch(({ message }: Error) => message)
    match(diff, 'Secret team-a/guarded')
    await assertHidden(diff)
  })

  it('tell no value either of a Secret that the API server refuses, or that changes its type', async () => {
    const word = 'of-no-kind'
    const tls = { type: 'kubernetes.io/tls' }
    const byServer = 'the API server refused it'
    const broken: [object: object, would: string, why?: string][] = [
      [secret({ word }, { data: { word } }), 'Change'],
      [secret({ word }, tls), 'Refuse', byServer],
      [secret({ 'not a key': word }), 'Refuse', byServer],
      [secret({}, { data: { word } }), 'Refuse', byServer],
      [secret({ 'tls.crt': word, 'tls.key': word }, tls), 'Refuse', byServer],
      [secret({ '.dockerconfigjson': word }, { type: 'kubernetes.io/dockerconfigjson' }), 'Refuse', byServer],
      [
        secret({}, { metadata: { name: 'guarded', annotations: { a: [word] } } }),
        'Refuse',
        'has metadata.annotations a: ***, which is no text',
      ],
      [secret({}, { immutable: word }), 'Refuse', byServer],
      [secret({}, { unknown: word }), 'Refuse', byServer],
      [secret({ word: { nested: word } }), 'Refuse', 'has a stringData.word that is a mapping'],
      [secret({ word }, { data: [word] }), 'Refuse', 'has a data that is no mapping'],
    ]
    for (const [at, [object, would, why]] of broken.entries()) {
      const { secret: told } = await look(`broken-${at}`, object)
      is(told?.would, would)
      if (why !== undefined) match(told?.message ?? '', why)
    }
    await assertHidden()
  })
})
