import { type Cache, type Caches, createCaches } from '../../../src/adapters/kube/index.ts'
import {
  DeploymentTargetClasses,
  Namespaces,
  refOf,
  SANDBOX_PROVISIONER,
  SANDBOX_TIER,
  SpaceTiers,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import { createLog, systemClock } from '../../../src/std/index.ts'
import { giveTarget, workspaceNamed } from '../../../test/operator/workspace/fixture.ts'
import { targetClass } from '../../../test/support/targets.ts'
import { workspaceClass } from '../../../test/support/workspaces.ts'
import { type OperatorProgram, type Running, startOperator } from '../program.ts'
import { inParallel, type Stage, setStage } from '../stage.ts'

/** A control plane, the operator as a process when it is asked for, and what the bench sees of workspaces. */
export interface Setup extends Stage {
  caches: Caches
  workspaces: Cache<Workspace>
  startOperator(): Promise<OperatorProgram>
}

export const AT_ONCE = 16
/** Where workspaces are that share a target, and the name of their class. */
export const SHARED = 'shared'
/** The class whose workspaces claim a space each. */
export const APART = 'apart'

/** As people write them: an editor's port, a cache beside the project, a command at the start. */
const DEVFILE = `schemaVersion: 2.2.0
components:
  - name: tools
    container:
      image: example.com/tools:1
      memoryLimit: 64Mi
      endpoints: [{ name: web, targetPort: 8080 }]
      volumeMounts: [{ name: cache, path: /cache }]
  - { name: cache, volume: { size: 1Gi } }
commands:
  - { id: hello, exec: { component: tools, commandLine: echo hello } }
events: { postStart: [hello] }
`

export const workspaceOf = (namespace: string, name: string, spec: WorkspaceSpec = {}): Workspace =>
  workspaceNamed(namespace, name, { workspaceClassName: SHARED, devfile: { inline: DEVFILE }, ...spec })

/** In a space of its own. */
export function apartOf(namespace: string, name: string): Workspace {
  const { spec, ...rest } = workspaceOf(namespace, name, { workspaceClassName: APART })
  const { target, ...own } = spec
  return { ...rest, spec: own }
}

export async function openSetup(running: Running = {}): Promise<Setup> {
  const stage = await setStage()
  const { user, kubeconfig } = stage
  const caches = createCaches({ kube: user, clock: systemClock, log: createLog('error', process.stderr) })
  const operators: OperatorProgram[] = []
  const close = async () => {
    for (const operator of operators) await operator.stop()
    await caches.stop()
    await stage.close()
  }
  try {
    await prepare(stage)
    const workspaces = caches.of(Workspaces)
    await caches.ready()
    return {
      ...stage,
      caches,
      workspaces,
      async startOperator() {
        const operator = await startOperator(kubeconfig, [], running)
        operators.push(operator)
        return operator
      },
      close,
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

async function prepare({ user, kubeconfig }: Stage): Promise<void> {
  await makeNamespace({ user }, SHARED)
  await giveTarget({ kube: user, kubeconfig }, SHARED)
  await user.create(WorkspaceClasses, workspaceClass(SHARED))
  await user.create(SpaceTiers, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'SpaceTier',
    metadata: { name: SANDBOX_TIER },
    spec: { quota: { pods: '20' } },
  })
  await user.create(DeploymentTargetClasses, targetClass(APART, { provisioner: SANDBOX_PROVISIONER }))
  await user.create(WorkspaceClasses, workspaceClass(APART, { deploymentTargetClassName: APART }))
}

export async function makeNamespace({ user }: Pick<Stage, 'user'>, name: string): Promise<void> {
  await user.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}

export const numbered = (prefix: string, n: number): string => `${prefix}-${String(n).padStart(4, '0')}`

export const inState = (workspaces: Cache<Workspace>, state: string): number =>
  [...workspaces.all()].filter(({ status }) => status?.actualState === state).length

/** All of them, as many at once as the floor. */
export const createAll = ({ user }: Setup, workspaces: readonly Workspace[]): Promise<void> =>
  inParallel(workspaces.length, AT_ONCE, async (n) => {
    const workspace = workspaces[n]
    if (workspace) await user.create(Workspaces, workspace)
  })

export const setAll = ({ user, workspaces }: Setup, spec: Partial<WorkspaceSpec>): Promise<void> => {
  const all = [...workspaces.all()]
  return inParallel(all.length, AT_ONCE, async (n) => {
    const workspace = all[n]
    if (workspace) await user.patch(Workspaces, refOf(workspace), { spec })
  })
}
