import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, BERTH_NAMESPACE, CREDENTIALS_NAMESPACE, Namespaces, nameOf } from '../../api/index.ts'
import { Failure, seconds, systemClock } from '../../std/index.ts'
import { findLeader } from '../local/others.ts'
import { listOwnObjects } from '../manifests.ts'
import { type ClusterOptions, positiveSeconds, withKube, withKubeconfig } from '../options.ts'
import { table, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { confirm } from './confirmation.ts'
import { bindingsOfTenants, DELETION_ORDER, type Removal, removeInstallation, removeObjects } from './removal.ts'
import { foreignObjectsIn, namespaceOfBerth, sayNames } from './shipped.ts'

interface Options extends ClusterOptions {
  namespace?: string
  timeout: number
  yes?: boolean
  dryRun?: boolean
}

export const verb = actionVerb({
  description:
    'Remove Berth from a cluster: first its objects, which the running programs free of what lies behind them, then programs, roles, policies and kinds. It says before what goes and what stays, and asks.',
  examples: [
    ['berth uninstall --dry-run', 'what would go, and what would stay'],
    ['berth uninstall', 'after a question'],
    ['berth uninstall --yes', 'without one, for scripts'],
  ],
  options: (command) =>
    withKubeconfig(command)
      .option('--namespace <name>', 'where its programs are (default: where they are found)')
      .option('--timeout <seconds>', 'how long all of it may take', positiveSeconds, 900)
      .option('--yes', 'do not ask')
      .option('--dry-run', 'only say what would be removed, and what is in the way'),
  run: uninstall,
})

async function uninstall(shell: Shell, options: Options): Promise<void> {
  await withKube(shell, options, async (kube) => {
    const namespace = await namespaceToRemove(kube, options)
    const objects = await listOwnObjects(kube, shell.home)
    const foreign = await foreignObjectsIn(kube, shell.home, namespace)
    const bindings = await bindingsOfTenants(kube)
    shell.print(report(objects, { namespace, server: kube.server, foreign, bindings: bindings.length }))
    const about = { kube, shell, namespace }
    await assertFreed(about, [...objects.values()].flat())
    if (options.dryRun) return
    if (!options.yes) await confirm(shell, kube.server)
    const removal = { ...about, deadline: systemClock.now() + seconds(options.timeout) }
    await removeObjects(removal)
    await removeInstallation(removal)
    shell.print('Berth is gone from this cluster.')
  })
}

/** Nobody's namespace is deleted because it was named by mistake. */
async function namespaceToRemove(kube: Kube, options: Options): Promise<string> {
  const found = await namespaceOfBerth(kube)
  const namespace = options.namespace ?? found ?? BERTH_NAMESPACE
  if (found !== undefined && found !== namespace)
    throw new Failure('invalid', `Berth is installed in namespace ${found}, and not in ${namespace}`, {
      remedy: `Say --namespace ${found}, or leave it out.`,
    })
  if (found !== undefined || (await isLeft(kube, namespace))) return namespace
  throw new Failure('not-found', `Berth is not installed in namespace ${namespace} of the cluster at ${kube.server}`, {
    remedy: 'Name another namespace with --namespace, or another cluster with --kubeconfig or --context.',
  })
}

/** A removal was interrupted when nearly all was gone. */
async function isLeft(kube: Kube, namespace: string): Promise<boolean> {
  const own = await kube.get(Namespaces, { name: namespace })
  const left = own ?? (await kube.get(Namespaces, { name: CREDENTIALS_NAMESPACE }))
  return left?.metadata.labels?.['app.kubernetes.io/name'] === 'berth'
}

const STAYS = [
  'What GitOpsDeployments have applied outside of spaces, but where spec.deletionPolicy says otherwise.',
  'Agents, here and in other clusters, with what they have applied: delete their namespaces, and their ClusterRoleBindings.',
  'Namespaces that people made, with all that is not of Berth.',
]

function report(
  objects: ReadonlyMap<string, readonly AnyObject[]>,
  { namespace, server, foreign, bindings }: { namespace: string; server: string; foreign: readonly string[]; bindings: number },
): string {
  const rows = DELETION_ORDER.map(({ kind, means = 'deleted' }) => ({ kind, count: objects.get(kind)?.length ?? 0, means }))
  const onboarding = { kind: 'RoleBinding', count: bindings, means: 'deleted: by these namespaces let Berth in' }
  const isShared = foreign.length > 0
  const emptied = isShared ? `namespace ${CREDENTIALS_NAMESPACE}` : `namespaces ${namespace} and ${CREDENTIALS_NAMESPACE}`
  const itself = `its programs, roles, policies and kinds, and the ${emptied} with all that is in them`
  const stays = isShared ? [...STAYS, `Namespace ${namespace}, with what is not of Berth there: ${sayNames(foreign)}.`] : STAYS
  const goes = table(
    [...[...rows, onboarding].filter(({ count }) => count > 0), { kind: 'Berth', count: 1, means: itself }],
    [
      { title: 'GOES', of: ({ kind }) => kind },
      { title: 'COUNT', of: ({ count }) => String(count) },
      { title: 'HOW', of: ({ means }) => means },
    ],
  )
  return [`Of the cluster at ${server}:`, '', goes, '', 'STAYS', ...stays.flatMap((line) => wrap(line))].join('\n')
}

/** Finalizers are taken off by the programs alone. */
async function assertFreed(
  { kube, namespace }: Pick<Removal, 'kube' | 'namespace'>,
  objects: readonly AnyObject[],
): Promise<void> {
  const held = objects.find(({ metadata }) => metadata.finalizers?.length)
  if (!held) return
  const lead = await findLeader(kube, namespace, systemClock.now())
  if ('leader' in lead) return
  throw new Failure('unavailable', `nobody would free what Berth's objects hold (${nameOf(held)} for one): ${lead.why}`, {
    remedy: 'Start the operator: `berth install --apply` with your values does. `berth doctor` says more.',
  })
}
