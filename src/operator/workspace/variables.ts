import type { V1EnvVar, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import type { Kube } from '../../adapters/kube/index.ts'
import { type CoreSecret, type KubeObject, Secrets, type Workspace } from '../../api/index.ts'
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
  const text = found?.data?.[secretKeyRef.key]
  if (text !== undefined) return text
  const what = found
    ? `Secret ${secretKeyRef.name} has no key "${secretKeyRef.key}"`
    : `there is no Secret ${secretKeyRef.name} in this namespace`
  throw new Failure('not-found', `spec.variables "${name}": ${what}`, {
    reason: VARIABLE_NOT_FOUND,
    remedy: 'Create it; the workspace starts by itself then.',
  })
}
