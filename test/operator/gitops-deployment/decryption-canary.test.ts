import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createMetrics } from '../../../src/adapters/http/index.ts'
import { GitOpsDeploymentSyncRuns, GitOpsDeployments, Secrets } from '../../../src/api/index.ts'
import { createRenderer } from '../../../src/engines/render/index.ts'
import { gitopsMeter } from '../../../src/operator/gitops-deployment/index.ts'
import { createLog } from '../../../src/std/index.ts'
import { configMap, kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { dryRun, openStage, type Stage } from '../../support/deployments.ts'
import { ageKey, lacksSops, realSops, type Sops } from '../../support/sops.ts'
import { describe } from '../../support/suite.ts'

/** Neither a label nor a type may be so: the API server quotes it. */
const CANARY = 'canary 4712 must: not be seen'
const EVERY = [CANARY, 'canary', Buffer.from(CANARY).toString('base64').slice(0, 12)]

function notIn(text: string, where: string): void {
  for (const word of EVERY) {
    const at = text.indexOf(word)
    assert.is(at < 0 ? undefined : text.slice(Math.max(0, at - 200), at + 100), undefined, where)
  }
}

/** A kubectl that keeps what it is given: files, arguments and environment. */
async function keepingKubectl() {
  const kept = mkdtempSync(join(tmpdir(), 'berth-canary-'))
  const program = join(kept, 'kubectl')
  const keep = `/bin/cp -r .. ${kept}/$$; echo "$@" > ${kept}/$$/arguments; /usr/bin/env > ${kept}/$$/environment`
  writeFileSync(program, `#!/bin/sh\n${keep}\nexec ${await kubectl()} "$@"\n`, { mode: 0o755 })
  const look = (folder: string): [path: string, content: string][] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? look(path) : [[path, readFileSync(path, 'latin1')] satisfies [string, string]]
    })
  return { program, seen: () => new Map(look(kept)), remove: () => rmSync(kept, { recursive: true }) }
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
    let builds: Awaited<ReturnType<typeof keepingKubectl>>

    it.before(async () => {
      ;[sops, age, builds] = await Promise.all([realSops(), ageKey(), keepingKubectl()])
      stage = await openStage(cluster, {
        log: createLog('debug', { write: (line) => lines.push(line) }),
        settings: { meter: gitopsMeter(metrics), render: createRenderer({ kubectl: builds.program }) },
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
      builds.remove()
    })

    const encrypted = (object: object) =>
      sops.encrypt('object.yaml', object, '--age', age.recipient, '--encrypted-regex', '^(labels|data|stringData|type|spec)$')

    it('appears in no status, Event, log line, metric, difference or file of a build', async () => {
      const { namespace, git } = stage
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
      await dryRun(cluster, stage)
      for (const [where, text] of Object.entries(await everythingTold())) {
        assert.ok(text.length > 100, where)
        notIn(text, where)
      }
      assert.ok((await stage.events('SyncFailed')).some((message) => message.includes('***')))
      const seen = builds.seen()
      for (const name of ['/v.env', '/arguments', '/environment'])
        assert.ok(
          [...seen.keys()].some((path) => path.endsWith(name)),
          name,
        )
      for (const [path, text] of seen) if (path !== builds.program) notIn(text, path)
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
