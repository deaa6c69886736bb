import { readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createMetrics } from '../../../src/adapters/http/index.ts'
import { GitOpsDeploymentSyncRuns, GitOpsDeployments, Secrets } from '../../../src/api/index.ts'
import { gitopsMeter } from '../../../src/operator/gitops-deployment/index.ts'
import { createLog } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { ageKey, lacksSops, realSops, type Sops } from '../../support/sops.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Neither a label nor a type may be so: the API server quotes it. */
const CANARY = 'canary 4712 must: not be seen'
const EVERY = [CANARY, 'canary', Buffer.from(CANARY).toString('base64').slice(0, 12)]

function notIn(text: string, where: string): void {
  for (const word of EVERY) {
    const at = text.indexOf(word)
    assert.is(at < 0 ? undefined : text.slice(Math.max(0, at - 200), at + 100), undefined, where)
  }
}

/** What builds have in their folders while they run, read over and over. */
function watchBuilds() {
  const seen = new Map<string, string>()
  const look = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      try {
        if (statSync(path).isDirectory()) look(path)
        else seen.set(path, readFileSync(path, 'latin1'))
      } catch {
        // It is gone already.
      }
    }
  }
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      for (const name of readdirSync(tmpdir()))
        if (name.startsWith('berth-render-')) {
          try {
            look(join(tmpdir(), name))
          } catch {
            // It is gone already.
          }
        }
      await sleep(1)
    }
  })()
  return {
    seen,
    async stop() {
      isOver = true
      await watching
    },
  }
}

describe(
  'what was encrypted in a repository',
  (it) => {
    const cluster = testCluster()
    const { kube } = cluster
    const lines: string[] = []
    const metrics = createMetrics()
    let stage: Stage
    let sops: Sops
    let age: Awaited<ReturnType<typeof ageKey>>

    it.before(async () => {
      ;[sops, age] = await Promise.all([realSops(), ageKey()])
      stage = await openStage(cluster, {
        log: createLog('debug', { write: (line) => lines.push(line) }),
        settings: { meter: gitopsMeter(metrics) },
      })
      await kube.create(Secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'sops-keys', namespace: stage.namespace },
        data: { 'a.agekey': Buffer.from(age.key).toString('base64') },
      })
    })
    it.after(async () => {
      await stage.stop()
      await cluster.close()
    })

    const encrypted = (object: object) =>
      sops.encrypt('object.yaml', object, '--age', age.recipient, '--encrypted-regex', '^(labels|data|stringData|type|spec)$')

    it('appears in no status, Event, log line, metric, difference or file of a build', async () => {
      const { namespace, git } = stage
      const builds = watchBuilds()
      await stage.deploy({ decryption: { provider: 'sops', secretRef: { name: 'sops-keys' } } })
      const env = await sops.encrypt('v.env', `CANARY=${CANARY}\n`, '--age', age.recipient)
      const good = {
        'deploy/kustomization.yaml': {
          resources: ['good.yaml', 'map.yaml'],
          secretGenerator: [{ name: 'made', envs: ['v.env'], files: ['note=v.env'], options: { disableNameSuffixHash: true } }],
          configMapGenerator: [{ name: 'made', envs: ['v.env'], options: { disableNameSuffixHash: true } }],
        },
        'deploy/v.env': env,
        'deploy/good.yaml': await encrypted({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'good' },
          stringData: { a: CANARY },
        }),
        'deploy/map.yaml': await encrypted({ ...configMap('good'), data: { a: CANARY } }),
      }
      await stage.synced(await git.push(good))
      assert.is((await stage.configMap('good'))?.data?.a, CANARY)
      assert.is((await stage.configMap('made'))?.data?.CANARY, CANARY)
      const made = await kube.get(Secrets, { name: 'made', namespace })
      assert.is(Buffer.from(made?.data?.CANARY ?? '', 'base64').toString(), CANARY)

      const bad = {
        'deploy/label.yaml': await encrypted({ ...configMap('label'), metadata: { name: 'label', labels: { x: CANARY } } }),
        'deploy/type.yaml': await encrypted({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'type' },
          data: { a: CANARY },
        }),
        'deploy/quota.yaml': await encrypted({
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'quota' },
          spec: { hard: { pods: CANARY } },
        }),
      }
      const names = Object.keys(bad).map((path) => path.replace('deploy/', ''))
      const kustomization = { ...good['deploy/kustomization.yaml'], resources: ['good.yaml', 'map.yaml', ...names] }
      await git.push({ ...good, ...bad, 'deploy/kustomization.yaml': kustomization })
      await stage.complains('SyncFailed')
      // So that a difference is shown of what is there, too.
      await kube.patch(Secrets, { name: 'good', namespace }, { data: { a: Buffer.from('changed').toString('base64') } })
      await kube.create(GitOpsDeploymentSyncRuns, {
        apiVersion: 'managed-gitops.redhat.com/v1alpha1',
        kind: 'GitOpsDeploymentSyncRun',
        metadata: { name: 'dry', namespace },
        spec: { gitopsDeploymentName: 'shop', dryRun: true },
      })
      await eventually(async () => {
        const run = await kube.get(GitOpsDeploymentSyncRuns, { name: 'dry', namespace })
        assert.is(run?.status?.phase, 'Succeeded', JSON.stringify(run?.status))
        return true
      })
      await builds.stop()
      for (const [where, text] of Object.entries(await everythingTold())) {
        assert.ok(text.length > 100, where)
        notIn(text, where)
      }
      assert.ok((await stage.events('SyncFailed')).some((message) => message.includes('***')))
      assert.ok([...builds.seen.keys()].some((path) => path.endsWith('/v.env')))
      for (const [path, text] of builds.seen) notIn(text, path)
    })

    async function everythingTold(): Promise<Record<string, string>> {
      const { namespace } = stage
      await stage.operator.events.flush()
      const [deployments, runs] = await Promise.all([
        kube.list(GitOpsDeployments, { namespace }),
        kube.list(GitOpsDeploymentSyncRuns, { namespace }),
      ])
      return {
        status: JSON.stringify([...deployments, ...runs].map(({ status }) => status)),
        events: JSON.stringify(await kube.read(`/api/v1/namespaces/${namespace}/events`)),
        log: lines.join(''),
        metrics: await metrics.render(),
      }
    }
  },
  await lacksSops(),
)
