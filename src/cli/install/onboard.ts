import type { Kube } from '../../adapters/kube/index.ts'
import {
  BERTH_NAMESPACE,
  ClusterRoles,
  CREDENTIALS_NAMESPACE,
  PART_OF_BERTH,
  type RoleBinding,
  RoleBindings,
  Roles,
  refOf,
  tenantRoles,
  typeMetaOf,
} from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { type ClusterOptions, type OutputOptions, withKube, withKubeconfig, withOutput } from '../options.ts'
import { renderData, table } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { namespaceOfBerth } from './shipped.ts'

interface Options extends ClusterOptions, OutputOptions {
  berthNamespace?: string
  remove?: boolean
  dryRun?: boolean
}

/** No tenant works there, and what lies there is the cluster's or Berth's. */
const NEVER = ['kube-system', 'kube-public', 'kube-node-lease', BERTH_NAMESPACE, CREDENTIALS_NAMESPACE]

const MAY = {
  operator: 'read its Secrets, write those it made, act as its service accounts',
  kas: 'read Secrets that GitProjects and Workspaces name',
} as const
const PROGRAMS = ['operator', 'kas'] as const

export const verb = actionVerb({
  description:
    'Let Berth work in a namespace: its programs get the role bindings there by which they read Secrets and act as service accounts. Elsewhere they may do neither. Whoever has the role admin in the namespace may let them in.',
  examples: [
    ['berth onboard team-a', 'let Berth work in team-a'],
    ['berth onboard team-a --dry-run -o yaml > berth.yaml', 'the same by kubectl apply, or by Git'],
    ['berth onboard team-a --remove', 'and no more'],
  ],
  options: (command) =>
    withOutput(withKubeconfig(command))
      .argument('<namespaces...>', 'where Berth is to work')
      .option('--remove', 'take the role bindings away; what Berth made there stays as it is, and is not looked after any more')
      .option('--dry-run', 'change nothing; with -o yaml print what would be applied')
      .option(
        '--berth-namespace <name>',
        `where the programs of Berth run (default: where they are found, or ${BERTH_NAMESPACE})`,
      ),
  run: onboard,
})

async function onboard(shell: Shell, namespaces: string[], given: Options): Promise<void> {
  const options = { ...given, berthNamespace: given.berthNamespace ?? (await whereBerthRuns(shell, given)) }
  const never = namespaces.find((name) => [...NEVER, options.berthNamespace].includes(name))
  if (never !== undefined)
    throw new Failure('invalid', `Berth does not work in namespace ${never}, which belongs to the cluster or to Berth itself.`, {
      remedy: 'Name a namespace of tenants.',
    })
  const bindingsIn = (namespace: string) => PROGRAMS.map((program) => bindingOf(program, namespace, options))
  const refused = options.dryRun
    ? new Map<string, Failure>()
    : await withKube(shell, options, (kube) => changeEach(kube, namespaces, bindingsIn, options))
  const done = namespaces.filter((namespace) => !refused.has(namespace))
  const list = { apiVersion: 'v1', kind: 'List', items: done.flatMap(bindingsIn) }
  if (done.length > 0) shell.print(options.output === 'table' ? report(done, options) : renderData(options.output, list))
  const [first] = refused.values()
  if (!first) return
  const message = [...refused.values()].map((failure) => failure.message).join('\n')
  throw new Failure(first.code, message, { cause: first, ...(first.remedy && { remedy: first.remedy }) })
}

/** Who may let Berth in may not always look where it runs; a dry run asks no cluster. */
async function whereBerthRuns(shell: Shell, options: Options): Promise<string> {
  if (options.dryRun) return BERTH_NAMESPACE
  const found = withKube(shell, options, namespaceOfBerth).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'forbidden')) throw thrown
  })
  return (await found) ?? BERTH_NAMESPACE
}

/** In every namespace, whatever comes of the others. Why it was not done, where it was not. */
async function changeEach(
  kube: Kube,
  namespaces: readonly string[],
  bindingsIn: (namespace: string) => RoleBinding[],
  options: Options,
): Promise<Map<string, Failure>> {
  if (!options.remove) for (const role of Object.values(tenantRoles)) await assertThere(kube, role)
  const refused = new Map<string, Failure>()
  for (const namespace of namespaces)
    try {
      for (const binding of bindingsIn(namespace))
        if (options.remove) await kube.delete(RoleBindings, refOf(binding))
        else await kube.apply(RoleBindings, binding, { manager: 'berth' }).catch(explain(binding))
    } catch (thrown) {
      refused.set(namespace, Failure.from(thrown))
    }
  return refused
}

const bindingOf = (
  program: (typeof PROGRAMS)[number],
  namespace: string,
  { berthNamespace }: { berthNamespace: string },
): RoleBinding => ({
  ...typeMetaOf(RoleBindings),
  metadata: { name: tenantRoles[program], namespace, labels: PART_OF_BERTH },
  roleRef: { apiGroup: Roles.group, kind: 'ClusterRole', name: tenantRoles[program] },
  subjects: [{ kind: 'ServiceAccount', name: `berth-${program}`, namespace: berthNamespace }],
})

/** A binding to a role that is not there would be made, and give nothing. Who may not look is not kept from it. */
async function assertThere(kube: Kube, name: string): Promise<void> {
  const role = await kube.get(ClusterRoles, { name }).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    return 'hidden' as const
  })
  if (role === undefined)
    throw new Failure('not-found', `there is no ClusterRole ${name} in the cluster.`, {
      remedy: 'Install this version of Berth first: `berth install --apply`, with your values.',
    })
}

const explain =
  ({ metadata: { name, namespace } }: RoleBinding) =>
  (thrown: unknown): never => {
    if (isFailure(thrown, 'forbidden'))
      throw new Failure('forbidden', `RoleBinding ${namespace}/${name} cannot be made: ${thrown.message}`, {
        cause: thrown,
        remedy: `Ask somebody who has the role admin in namespace ${namespace}.`,
      })
    if (isFailure(thrown, 'not-found'))
      throw new Failure('not-found', `there is no namespace ${namespace}.`, {
        cause: thrown,
        remedy: 'Create it first, or correct its name.',
      })
    if (isFailure(thrown, 'conflict'))
      throw new Failure('conflict', `RoleBinding ${namespace}/${name} was made by somebody else, with other subjects.`, {
        cause: thrown,
        remedy: `Delete it first: kubectl delete rolebinding ${name} -n ${namespace}`,
      })
    throw thrown
  }

function report(namespaces: string[], { remove: isRemoved, dryRun }: Options): string {
  const would = dryRun ? 'would be' : 'is'
  const what = namespaces.length === 1 ? `Namespace ${namespaces[0]}` : `Each of ${namespaces.length} namespaces`
  if (isRemoved) return `${what} ${would} closed to Berth.`
  const rows = namespaces.flatMap((namespace) => PROGRAMS.map((program) => ({ namespace, program })))
  return `${what} ${would} open to Berth:\n\n${table(rows, [
    { title: 'NAMESPACE', of: ({ namespace }) => namespace },
    { title: 'PROGRAM', of: ({ program }) => program },
    { title: 'MAY', of: ({ program }) => MAY[program] },
  ])}`
}
