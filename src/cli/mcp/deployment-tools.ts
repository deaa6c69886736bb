import { flag, type McpTool, optional, text, tool, whole } from '../../adapters/mcp/index.ts'
import {
  Agents,
  conditionOf,
  type GitOpsDeployment,
  GitOpsDeployments,
  sourceChart,
  sourcePath,
  sourceUrl,
  nameOf as titleOf,
} from '../../api/index.ts'
import { beginningOf, Failure, redactUrls, seconds, systemClock } from '../../std/index.ts'
import { agentRowOf } from '../agent/list.ts'
import { exitCodes } from '../exit-codes.ts'
import { refuseSuspended } from '../gitops/deployment.ts'
import { showDryRun } from '../gitops/diff.ts'
import { syncDeployment } from '../gitops/sync.ts'
import { dryRun } from '../gitops/sync-run.ts'
import { nodesOf } from '../gitops/tree-lines.ts'
import { pageFields, pageOf } from './page.ts'
import { asVerb, findDeployment, type McpSession, nameOf, namespaceField, onCluster, QUOTED } from './session.ts'
import { conditionsOf, dryRunField, MOST_IN_LIST, notShown } from './workspace-tools.ts'

const WHICH = { name: nameOf('GitOpsDeployment'), namespace: namespaceField }
const MOST_OBJECTS = 500

export const lookingTools = (session: McpSession): McpTool[] => [
  tool({
    name: 'list_deployments',
    title: 'List GitOpsDeployments',
    description: 'List GitOpsDeployments: which commit is in effect, whether it is synchronised and healthy, and what is wrong.',
    effect: 'reads',
    fields: pageFields,
    run: (wanted, call) =>
      onCluster(session, call, async (kube) => {
        const { items, next } = await pageOf(kube, GitOpsDeployments, session, wanted, call)
        return { data: { note: QUOTED, deployments: items.map(rowOf), ...next } }
      }),
  }),
  tool({
    name: 'get_deployment',
    title: 'Look at a GitOpsDeployment',
    description:
      'Say what is known of a GitOpsDeployment: its source, its conditions, and each object with its health and where it differs.',
    effect: 'reads',
    fields: WHICH,
    run: (wanted, call) =>
      onCluster(session, call, async (kube) => ({
        data: { note: QUOTED, ...detailsOf(await findDeployment(kube, session, wanted)) },
      })),
  }),
  tool({
    name: 'list_agents',
    title: 'List Agents',
    description: 'List Agents: clusters that fetch for themselves, whether they are connected, and what does not work.',
    effect: 'reads',
    fields: pageFields,
    run: (wanted, call) =>
      onCluster(session, call, async (kube) => {
        const { items, next } = await pageOf(kube, Agents, session, wanted, call)
        const agents = items.map(agentRowOf).map(({ failing, ...row }) => ({
          ...row,
          message: beginningOf(row.message, MOST_IN_LIST),
          failing: failing.slice(0, 20).map((each) => ({ ...each, message: beginningOf(each.message, MOST_IN_LIST) })),
        }))
        return { data: { note: QUOTED, agents, ...next } }
      }),
  }),
]

export const changingTools = (session: McpSession): McpTool[] => [
  tool({
    name: 'diff_deployment',
    title: 'Show what a sync would change',
    description:
      'Show field by field what a synchronisation of a GitOpsDeployment would do, by a dry run with the rights of its tenant. Nothing is applied; values of Secrets are not shown. It makes a GitOpsDeploymentSyncRun and deletes it again.',
    effect: 'changes',
    fields: { ...WHICH, ...revisionAndTime },
    run: ({ revision, timeout_seconds: timeout, ...wanted }, call) =>
      asVerb(session, call, async (context) => {
        const deployment = await findDeployment(context.kube, session, wanted)
        const run = await dryRun({ ...context, deployment }, revision, seconds(timeout))
        return showDryRun({ ...context, deployment }, run, { output: 'table' })
      }),
  }),
  syncTool(session),
]

const revisionAndTime = {
  revision: optional(text('Commit, branch or tag to compare with; what its source says without it', { most: 512 })),
  timeout_seconds: whole('So many seconds at most', { least: 1, most: 3600, otherwise: 120 }),
}

const COMMIT: readonly [RegExp, string] = [/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'a whole commit, as the dry run answers it']

const syncTool = (session: McpSession): McpTool =>
  tool({
    name: 'sync_deployment',
    title: 'Synchronise a GitOpsDeployment',
    description:
      'Bring a GitOpsDeployment about now, whatever its sync windows say. Without dry_run: false it only shows what would change, as diff_deployment does, and answers the commit of that; the real call takes it as `revision`, and is refused when there is another one by then. Deletions that a guard holds back stay held back: a person confirms them.',
    effect: 'destroys',
    fields: {
      ...WHICH,
      dry_run: dryRunField('changed'),
      revision: optional(text('The commit that the dry run has answered; needed with dry_run: false', { pattern: COMMIT })),
      wait: flag('Wait until it is Ready; it fails when it does not become so', true),
      timeout_seconds: whole('So many seconds at most', { least: 1, most: 3600, otherwise: 300 }),
    },
    run: ({ dry_run: isDry, revision, wait, timeout_seconds: timeout, ...wanted }, call) =>
      asVerb(session, call, async (context) => {
        if (!isDry && revision === undefined) throw notShown('revision')
        const deployment = await findDeployment(context.kube, session, wanted)
        const at = { ...context, deployment, forProgram: true }
        if (!isDry) refuseSuspended(deployment)
        const begun = systemClock.now()
        const run = await dryRun(at, undefined, seconds(timeout))
        const newest = run.status?.revision
        if (isDry || newest === undefined) {
          const code = showDryRun(at, run, { output: 'table' })
          context.shell.print(
            `Nothing was synchronised${newest === undefined ? '' : `: that needs dry_run: false and revision: ${newest}`}.`,
          )
          return isDry ? code : exitCodes.failed
        }
        if (newest !== revision) throw movedOn(deployment, newest)
        const left = Math.max(1, timeout - Math.floor((systemClock.now() - begun) / 1000))
        return syncDeployment(at, { ...session.options, wait, timeout: left, revision })
      }),
  })

const movedOn = (deployment: GitOpsDeployment, newest: string): Failure =>
  new Failure(
    'conflict',
    `what was shown of ${titleOf(deployment)} is not what would be applied now, which is commit ${newest}.`,
    {
      remedy: 'Nothing was synchronised. Make a dry run again, and show the person what it answers.',
    },
  )

function rowOf({ metadata, spec, status = {} }: GitOpsDeployment) {
  const ready = conditionOf(status.conditions, 'Ready')
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    type: spec.type,
    suspended: spec.suspend === true,
    sync: status.sync?.status ?? 'Unknown',
    health: status.health?.status ?? 'Unknown',
    revision: status.sync?.revision ?? '',
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? 'NotSeen',
    message: beginningOf(ready?.message ?? '', MOST_IN_LIST),
  }
}

/** Of its spec only what says where it comes from and goes to: values and variables may be secret. */
function detailsOf(deployment: GitOpsDeployment) {
  const { source, destination = {} } = deployment.spec
  const { targetRevision = '' } = source
  const objects = nodesOf(deployment, () => [])
  return {
    ...rowOf(deployment),
    source: {
      repository: redactUrls(sourceUrl(source)),
      path: sourcePath(source),
      targetRevision: sourceChart(source) ?? targetRevision,
    },
    destination,
    conditions: conditionsOf(deployment.status?.conditions),
    objects: objects.slice(0, MOST_OBJECTS).map(({ children: _, message = '', ...object }) => ({
      ...object,
      drift: object.drift.slice(0, 20),
      message: beginningOf(message, MOST_IN_LIST),
    })),
    objectsLeftOut: Math.max(objects.length - MOST_OBJECTS, 0),
  }
}
