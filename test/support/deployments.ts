import * as assert from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  type ConfigMap,
  ConfigMaps,
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  isTrue,
} from '../../src/api/index.ts'
import { createRenderer, type Snapshot } from '../../src/engines/render/index.ts'
import {
  dryRuns,
  type GitOpsSettings,
  gitopsDeployments,
  type Source,
  syncRuns,
} from '../../src/operator/gitops-deployment/index.ts'
import { Failure } from '../../src/std/index.ts'
import { grant } from './builders/credentials.ts'
import { kubectl, snapshot } from './builders/snapshots.ts'
import type { TestCluster } from './control-plane.ts'
import { type OperatorOptions, type RunningOperator, startOperator } from './operator.ts'
import { eventually, expectObject, type Patience } from './verbs.ts'

type Follow = Parameters<Source['follow']>

/** A repository in memory, followed as kas lets it be: the last push now, each new one as it comes; or one commit for ever. */
export function memoryRepository() {
  const followers = new Set<Follow>()
  const commits = new Map<string, Snapshot>()
  let last: Snapshot | undefined
  const deliver = async (to: Follow) => {
    const [{ globs, ref }, { onBatch, onFailure }] = to
    const wanted = ref?.kind === 'commit' ? commits.get(ref.name) : last
    if (!wanted && ref?.kind === 'commit')
      onFailure?.(new Failure('not-found', `there is no commit ${ref.name}`, { reason: 'RefNotFound' }))
    const roots = globs.map((glob) => glob.replace(/\*\*$/, ''))
    const files = (wanted?.files ?? []).filter((file) => roots.some((root) => file.source.startsWith(root)))
    if (wanted) await onBatch({ ...wanted, projectId: 1n, files })
  }
  const source: Source = {
    async follow(...follow) {
      const [, { signal }] = follow
      followers.add(follow)
      await deliver(follow)
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve())
      })
      followers.delete(follow)
    },
  }
  return {
    source,
    asked: () => [...followers].map(([wanted]) => wanted),
    fail: (failure: Failure) => {
      for (const [, { onFailure }] of followers) onFailure?.(failure)
    },
    /** `order`: whose path hears of it first, and who only when this promise is kept. */
    async push(
      files: Record<string, string | object>,
      late?: { path: string; until: Promise<unknown> },
      about: Pick<Snapshot, 'author' | 'subject'> = {},
    ) {
      last = { ...snapshot(files), ...about }
      commits.set(last.commitId, last)
      const isLate = ([{ globs }]: Follow) => late !== undefined && globs.some((glob) => glob.startsWith(late.path))
      await Promise.all([...followers].filter((one) => !isLate(one)).map(deliver))
      await late?.until
      await Promise.all([...followers].filter(isLate).map(deliver))
      return last.commitId
    },
  }
}

const REPOSITORY = 'https://git.example.com/team-a/shop'

export interface Stage {
  namespace: string
  operator: RunningOperator
  git: ReturnType<typeof memoryRepository>
  /** `shop` of the path `deploy`, into the own namespace, unless said otherwise. */
  deploy(spec?: Partial<GitOpsDeployment['spec']>, name?: string): Promise<GitOpsDeployment>
  status(name?: string): Promise<NonNullable<GitOpsDeployment['status']>>
  synced(revision: string, name?: string, patience?: Patience): Promise<NonNullable<GitOpsDeployment['status']>>
  /** Not ready for this reason; gives the condition. */
  complains(reason: string, name?: string, patience?: Patience): Promise<{ message: string }>
  configMap(name: string): Promise<ConfigMap | undefined>
  /** Asks for a synchronisation by a GitOpsDeploymentSyncRun. */
  run(name: string, revisionID?: string): Promise<GitOpsDeploymentSyncRun>
  /** Messages of the Events with this reason. */
  events(reason: string): Promise<string[]>
  /** Another operator in the place of this one. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** GitOpsDeployments at work in a namespace of their own, where their service account `default` may do everything. */
export async function openStage(
  cluster: TestCluster,
  how: Partial<OperatorOptions> & { settings?: Partial<GitOpsSettings>; role?: string } = {},
): Promise<Stage> {
  const { kube, kubeconfig } = cluster
  const { settings, role = 'admin', ...options } = how
  const namespace = await cluster.namespace('gitops')
  const git = memoryRepository()
  const render = createRenderer({ kubectl: await kubectl() })
  await grant(kube, namespace, 'default', role)
  await kube.create(GitProjects, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'GitProject',
    metadata: { name: 'shop', namespace },
    spec: { url: REPOSITORY, path: `${namespace}/shop` },
  })
  const open = () =>
    startOperator({
      kubeconfig,
      namespace,
      controllers: (context) => [
        gitopsDeployments(context, { source: git.source, render, ...settings }),
        syncRuns(context),
        dryRuns(context, { source: git.source, render, ...settings }),
      ],
      ...options,
    })
  let operator = await open()
  const status = async (name = 'shop') => (await kube.get(GitOpsDeployments, { name, namespace }))?.status ?? {}
  return {
    namespace,
    git,
    get operator() {
      return operator
    },
    status,
    deploy: (spec = {}, name = 'shop') =>
      kube.create(GitOpsDeployments, {
        apiVersion: 'managed-gitops.redhat.com/v1alpha1',
        kind: 'GitOpsDeployment',
        metadata: { name, namespace },
        spec: { source: { repoURL: REPOSITORY, path: 'deploy' }, type: 'automated', ...spec },
      }),
    synced: (revision, name, patience) =>
      eventually(async () => {
        const now = await status(name)
        const seen = [now.sync, isTrue(now.conditions, 'Ready')]
        assert.equal(seen, [{ status: 'Synced', revision }, true], JSON.stringify(now.conditions))
        return now
      }, patience),
    complains: (reason, name, patience) =>
      eventually(async () => {
        const ready = conditionOf((await status(name)).conditions, 'Ready')
        assert.is(ready?.reason, reason, ready?.message)
        return ready
      }, patience),
    run: (name, revisionID) => makeSyncRun(kube, { name, namespace }, revisionID ? { revisionID } : {}),
    configMap: (name) => kube.get(ConfigMaps, { name, namespace }),
    async events(reason) {
      await operator.events.flush()
      const path = `/api/v1/namespaces/${namespace}/events`
      const { items } = await kube.read<{ items: { reason: string; message: string }[] }>(path)
      return items.filter((event) => event.reason === reason).map(({ message }) => message)
    },
    async restart() {
      await operator.stop()
      operator = await open()
    },
    stop: () => operator.stop(),
  }
}

/** A run of `shop`, where its spec names no other. */
export const makeSyncRun = (
  kube: Kube,
  metadata: { name: string; namespace: string },
  spec: Partial<GitOpsDeploymentSyncRun['spec']> = {},
) =>
  kube.create(GitOpsDeploymentSyncRuns, {
    ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeploymentSyncRun' },
    metadata,
    spec: { gitopsDeploymentName: 'shop', ...spec },
  })

/** Asks what `shop` would do, and waits until that is told. */
export async function dryRun({ kube }: TestCluster, { namespace }: Stage): Promise<GitOpsDeploymentSyncRun['status']> {
  const ref = { name: 'dry', namespace }
  await makeSyncRun(kube, ref, { dryRun: true })
  const told = await expectObject(kube, GitOpsDeploymentSyncRuns, ref, ({ status }) =>
    assert.is(status?.phase, 'Succeeded', JSON.stringify(status)),
  )
  return told.status
}

/** Has the GitProject of a stage say that nothing was pushed yet, as kas does. */
export function sayEmpty({ kube }: TestCluster, { namespace }: Stage): Promise<unknown> {
  const ready = { type: 'Ready', status: 'True', reason: 'RepositoryEmpty', message: '' }
  const conditions = [{ ...ready, lastTransitionTime: '2030-01-01T00:00:00Z' }]
  return kube.patch(GitProjects, { name: 'shop', namespace }, { status: { conditions } }, { subresource: 'status' })
}

/** At this path of a repository. */
export const at = (path: string): Partial<GitOpsDeployment['spec']> => ({ source: { repoURL: REPOSITORY, path } })
