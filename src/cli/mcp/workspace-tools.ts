import { choice, flag, type McpTool, optional, text, tool, whole, wordsByName } from '../../adapters/mcp/index.ts'
import { type Condition, refOf, nameOf as titleOf, type Workspace, Workspaces } from '../../api/index.ts'
import { beginningOf, Failure } from '../../std/index.ts'
import { makeObject } from '../create-object.ts'
import { exitCodes } from '../exit-codes.ts'
import { creationOf } from '../workspace/create.ts'
import { removeWorkspace } from '../workspace/delete.ts'
import { rowOf } from '../workspace/row.ts'
import { startWorkspace, stopWorkspace } from '../workspace/run-state.ts'
import { watchUntil } from '../workspace/watch.ts'
import { masked } from './masked.ts'
import { pageFields, pageOf } from './page.ts'
import { asVerb, findWorkspace, listen, type McpSession, nameOf, namespaceField, onCluster, QUOTED, withSaid } from './session.ts'

const MOST_MESSAGE = 4096
export const MOST_IN_LIST = 400

const WHICH = { name: nameOf('Workspace'), namespace: namespaceField }

export const dryRunField = (what: string) => flag(`Only say what would be ${what}, and change nothing`, true)

/** A person agrees to what a dry run has shown, and that is what the real call has to name. */
export const notShown = (field: string): Failure =>
  new Failure('invalid', `${field} is missing. With dry_run: false it must be the one that the dry run has answered.`, {
    remedy: 'Make a dry run first, and show the person what it answers.',
  })

export const lookingTools = (session: McpSession): McpTool[] => [
  tool({
    name: 'list_workspaces',
    title: 'List workspaces',
    description: 'List Workspaces: their states, owners and addresses, and what comes next or is wrong.',
    effect: 'reads',
    fields: {
      ...pageFields,
      owner: optional(text('Only those of this person; a page may then have fewer than `limit`', { most: 512 })),
    },
    run: ({ owner, ...wanted }, call) =>
      onCluster(session, call, async (kube) => {
        const { items, next } = await pageOf(kube, Workspaces, session, wanted, call)
        const workspaces = items.filter(({ spec }) => owner === undefined || spec.owner === owner)
        return { data: { note: QUOTED, workspaces: workspaces.map((each) => boundedRow(each, MOST_IN_LIST)), ...next } }
      }),
  }),
  tool({
    name: 'get_workspace',
    title: 'Look at a workspace',
    description:
      'Say what is known of a Workspace: its state and conditions, what is wrong and what helps, its ports and addresses.',
    effect: 'reads',
    fields: WHICH,
    run: (wanted, call) =>
      onCluster(session, call, async (kube) => ({
        data: { note: QUOTED, ...detailsOf(await findWorkspace(kube, session, wanted)) },
      })),
  }),
  tool({
    name: 'wait_for_workspace',
    title: 'Wait for a workspace',
    description:
      'Watch a Workspace until it is in a state, with a progress notification for each step. It fails when the Workspace fails, when somebody wants it otherwise, or when the time is over.',
    effect: 'reads',
    fields: {
      ...WHICH,
      state: choice<'Running' | 'Stopped' | 'Terminated'>('The state to wait for; Terminated also stands for deleted', [
        'Running',
        'Stopped',
        'Terminated',
      ]),
      timeout_seconds: whole('So many seconds at most', { least: 1, most: 3600, otherwise: 300 }),
    },
    run: ({ state, timeout_seconds: timeout, ...wanted }, call) =>
      asVerb(session, call, async (context) => {
        const { name, namespace = session.options.namespace } = wanted
        if (state === 'Terminated' && !(await context.kube.get(Workspaces, { name, namespace }, call.signal))) {
          context.shell.print(`There is no Workspace ${namespace}/${name}.`)
          return exitCodes.ok
        }
        const workspace = await findWorkspace(context.kube, session, wanted)
        return watchUntil({ ...context, workspace }, { state, timeout, generation: workspace.metadata.generation ?? 0 })
      }),
  }),
]

/** Conditions say most of what went wrong; variables, devfile and shares are left out, for there may be secrets in them. */
const detailsOf = (workspace: Workspace) => {
  const { spec, status = {} } = workspace
  return {
    ...boundedRow(workspace, MOST_MESSAGE),
    project: spec.project ?? null,
    target: status.target
      ? { name: status.target.name, namespace: status.target.namespace, claim: status.target.claimName }
      : null,
    ports: (status.ports ?? []).map(({ name, port, url }) => ({ name, port, url: url ?? '' })),
    lastActivityAt: status.lastActivityAt ?? '',
    conditions: conditionsOf(status.conditions),
  }
}

export const conditionsOf = (conditions: readonly Condition[] = []) =>
  conditions.map(({ type, status, reason, message, lastTransitionTime }) => ({
    ...{ type, status, reason, lastTransitionTime },
    message: beginningOf(message, MOST_MESSAGE),
  }))

function boundedRow(workspace: Workspace, most: number) {
  const row = rowOf(workspace)
  return { ...row, message: beginningOf(row.message, most), remedy: beginningOf(row.remedy, most) }
}

export const changingTools = (session: McpSession): McpTool[] => [
  createWorkspace(session),
  tool({
    name: 'start_workspace',
    title: 'Start a workspace',
    description: 'Start a Workspace that is stopped. wait_for_workspace says when it runs.',
    effect: 'changes',
    fields: WHICH,
    run: (wanted, call) =>
      asVerb(session, call, async (context) =>
        startWorkspace({ ...context, workspace: await findWorkspace(context.kube, session, wanted) }, unwatched(session)),
      ),
  }),
  tool({
    name: 'stop_workspace',
    title: 'Stop a workspace',
    description: 'Stop a Workspace. Its files stay; what runs in it ends.',
    effect: 'destroys',
    fields: WHICH,
    run: (wanted, call) =>
      asVerb(session, call, async (context) =>
        stopWorkspace({ ...context, workspace: await findWorkspace(context.kube, session, wanted) }, unwatched(session)),
      ),
  }),
  deleteWorkspace(session),
]

const unwatched = ({ options }: McpSession) => ({ ...options, watch: false, timeout: 0 })

const createWorkspace = (session: McpSession): McpTool =>
  tool({
    name: 'create_workspace',
    title: 'Create a workspace',
    description:
      'Create a Workspace, which belongs to the person. Without dry_run: false the API server only looks it over, and the answer says what would be created.',
    effect: 'changes',
    fields: {
      ...WHICH,
      project: optional(text('GitProject to work on, by its name or its path', { most: 512 })),
      ref: optional(text('Branch, tag or commit of the project; its default branch without it', { most: 512 })),
      class: optional(nameOf('WorkspaceClass; default without it')),
      devfile: optional(text('The devfile as YAML; that of the project or the class without it', { most: 65_536 })),
      devfile_path: optional(text('Where the devfile lies in the project')),
      claim: optional(nameOf('DeploymentTargetClaim to share; one of its own without it')),
      variables: optional(
        wordsByName(
          'Environment variables by their names. No answer of this tool says their values; what runs in the workspace can read them',
          100,
        ),
      ),
      restore_from: optional(text('WORKSPACE or WORKSPACE/BACKUP to begin with', { most: 512 })),
      stopped: flag('Make it, but do not start it', false),
      dry_run: dryRunField('created'),
    },
    run: ({ name, dry_run: dryRun, devfile, devfile_path: devfilePath, variables, restore_from: restoreFrom, ...wanted }, call) =>
      onCluster(session, call, async (kube) => {
        const { shell, said } = listen(session.shell, call)
        if (devfile !== undefined && devfilePath !== undefined)
          throw new Failure('invalid', 'devfile and devfile_path both say what the devfile is.', { remedy: 'Give one of them.' })
        if (wanted.ref !== undefined && wanted.project === undefined)
          throw new Failure('invalid', 'ref says what of a project, but no project is named.', {
            remedy: 'Name it in `project`.',
          })
        const env = variables && Object.entries(variables).map(([key, value]) => ({ name: key, value }))
        const { namespace = session.options.namespace } = wanted
        const wish = { ...wanted, namespace, devfileText: devfile, devfilePath, env, restoreFrom }
        const missing: string[] = []
        try {
          const creation = await creationOf(shell, kube, name, wish)
          const made = await makeObject(creation, dryRun, (what) => missing.push(what))
          return {
            data: {
              dryRun,
              done: dryRun ? 'Nothing was created.' : `${titleOf(made)} is made.`,
              missing,
              workspace: shown(made),
            },
          }
        } catch (thrown) {
          throw masked(withSaid(Failure.from(thrown), said), Object.values(variables ?? {}))
        }
      }),
  })

/** What the server answers, without what may be a secret. */
function shown({ metadata, spec }: Workspace) {
  const { variables, devfile, ...rest } = spec
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    spec: {
      ...rest,
      ...(variables && { variables: variables.map(({ name }) => ({ name, value: '***' })) }),
      ...(devfile && { devfile: devfile.inline === undefined ? devfile : { inline: `(${devfile.inline.length} characters)` } }),
    },
  }
}

const deleteWorkspace = (session: McpSession): McpTool =>
  tool({
    name: 'delete_workspace',
    title: 'Delete a workspace',
    description:
      'Delete a Workspace with its files; what was not pushed is lost. Without dry_run: false nothing is deleted, and the answer says what would be, with its uid; the real call takes that `uid`, and is refused when the name belongs to another one by then.',
    effect: 'destroys',
    fields: {
      ...WHICH,
      dry_run: dryRunField('deleted'),
      uid: optional(text('The uid that the dry run has answered; needed with dry_run: false', { most: 253 })),
    },
    run: ({ dry_run: dryRun, uid: shownUid, ...wanted }, call) =>
      asVerb(session, call, async (context) => {
        if (!dryRun && shownUid === undefined) throw notShown('uid')
        const workspace = await findWorkspace(context.kube, session, wanted)
        const { uid } = workspace.metadata
        if (!dryRun) {
          if (uid !== shownUid) throw anotherOne(workspace)
          return removeWorkspace({ ...context, workspace }, { ...unwatched(session), yes: true })
        }
        await context.kube.delete(Workspaces, refOf(workspace), { uid, dryRun: true })
        const { state, owner } = rowOf(workspace)
        context.shell.print(
          `${titleOf(workspace)} (${state}, of ${owner || 'nobody'}) would be deleted with its files, and what was not pushed would be lost. Nothing was deleted: that needs dry_run: false and uid: ${uid}.`,
        )
        return exitCodes.ok
      }),
  })

const anotherOne = (workspace: Workspace): Failure =>
  new Failure('conflict', `${titleOf(workspace)} is not the one whose uid was given: that one is gone, or never was.`, {
    remedy: 'Nothing was deleted. Make a dry run again, and show the person what it answers.',
  })
