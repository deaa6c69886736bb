import type { V1EnvVar, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import type { Kube } from '../../adapters/kube/index.ts'
import { type CoreSecret, type KubeObject, labels, Secrets, type Workspace, YES } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

export const VARIABLE_NOT_FOUND = 'VariableNotFound'
const VOLUME = 'workspace-variables'
const FOLDER = '/.workspace-data/variables/file'
/** Whoever of group 0 runs the container reads and runs the files. */
const MODE = 0o774

export const variablesNameOf = (objectName: string): string => `${objectName}-variables`

/** What every container gets: variables from the frozen Secret, and for files the path to them. */
export function variablesOf(
  { spec }: Workspace,
  objectName: string,
): { env: V1EnvVar[]; volumes: V1Volume[]; mounts: V1VolumeMount[] } {
  const secret = variablesNameOf(objectName)
  const files = (spec.variables ?? []).filter(({ type }) => type === 'file')
  const env = (spec.variables ?? []).map(({ name, type }) =>
    type === 'file' ? { name, value: `${FOLDER}/${name}` } : { name, valueFrom: { secretKeyRef: { name: secret, key: name } } },
  )
  if (files.length === 0) return { env, volumes: [], mounts: [] }
  const items = files.map(({ name }) => ({ key: name, path: name }))
  return {
    env,
    volumes: [{ name: VOLUME, secret: { secretName: secret, defaultMode: MODE, items } }],
    mounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
  }
}

/** The Secret with all values as they are now. It is made once: later changes do not reach the workspace. */
export async function frozenVariables(workspace: Workspace, frame: KubeObject, kube: Kube): Promise<CoreSecret> {
  const values = await Promise.all(
    (workspace.spec.variables ?? []).map(async (each) => [each.name, await encoded(workspace, each, kube)]),
  )
  return { ...frame, type: 'Opaque', immutable: true, data: Object.fromEntries(values) }
}

type Variable = NonNullable<Workspace['spec']['variables']>[number]

/** In base64, as the Secret that it comes from and the one that it goes to have it. */
async function encoded({ metadata }: Workspace, { name, value, secretKeyRef }: Variable, kube: Kube): Promise<string> {
  if (!secretKeyRef) return Buffer.from(value ?? '').toString('base64')
  const found = await kube.get(Secrets, { name: secretKeyRef.name, namespace: metadata.namespace })
  // Read with the operator's rights: without the consent of who may write the Secret, a Workspace would open every one.
  const allowed = found?.metadata.labels?.[labels.workspaceVariables] === YES ? found : undefined
  const text = allowed?.data?.[secretKeyRef.key]
  if (text !== undefined) return text
  throw allowed ? noKey(name, secretKeyRef) : noSecret(name, secretKeyRef)
}

type SecretKey = NonNullable<Variable['secretKeyRef']>

const noKey = (variable: string, { name, key }: SecretKey): Failure =>
  new Failure('not-found', `spec.variables "${variable}": Secret ${name} has no key "${key}"`, {
    reason: VARIABLE_NOT_FOUND,
    remedy: 'Add the key; the workspace starts by itself then.',
  })

/** The same words for a Secret that is missing and one that is not for workspaces: who may not read it does not learn which. */
const noSecret = (variable: string, { name }: SecretKey): Failure => {
  const label = `${labels.workspaceVariables}=${YES}`
  return new Failure(
    'not-found',
    `spec.variables "${variable}": there is no Secret ${name} labelled ${label} in this namespace`,
    {
      reason: VARIABLE_NOT_FOUND,
      remedy: `Create it, or open it to workspaces: kubectl label secret ${name} ${label}; the workspace starts by itself then.`,
    },
  )
}
