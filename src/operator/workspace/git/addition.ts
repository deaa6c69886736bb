import type { V1Container, V1EnvVar, V1Volume, V1VolumeMount, V1VolumeProjection } from '@kubernetes/client-node'
import { clonerImageOf, gitAudienceOf, type WorkspaceClassSpec } from '../../../api/index.ts'
import { FOLDER, NAMES, SECRET_FOLDER } from './files.ts'
import type { GitPlan } from './plan.ts'

export interface GitAddition {
  cloner: V1Container
  /** In another pod, instead of the cloner: nothing begins there before the clone is done. */
  waiter: V1Container
  volumes: V1Volume[]
  env: V1EnvVar[]
  mounts: V1VolumeMount[]
}

interface AdditionInputs {
  settings: WorkspaceClassSpec
  objectName: string
  /** Of every container of the pod. */
  body: Pick<V1Container, 'securityContext' | 'resources'>
  /** The volume of the projects, mounted at `projects`. */
  data: V1VolumeMount
  /** The cloner has the names of the files instead of those of its image. */
  hasNames: boolean
}

const VOLUME = 'workspace-git'
const SECRET_VOLUME = 'workspace-git-secret'
/** Names that begin so are not the devfile's. */
export const CLONER = 'berth-clone'
/** An hour, renewed by the kubelet long before. */
const TOKEN_SECONDS = 3600
const READABLE = 0o440
const EXECUTABLE = 0o555

/** Files, token, configuration; and the clone, which is to run before anything else does. */
export function gitAddition(git: GitPlan, { settings, objectName, body, data, hasNames }: AdditionInputs): GitAddition {
  const env = [{ name: 'GIT_CONFIG_SYSTEM', value: `${FOLDER}/gitconfig` }]
  const sources = sourcesOf(git, objectName)
  // The Secret can come and go without another pod.
  const secret = { secretName: gitNameOf(objectName), optional: true, defaultMode: READABLE }
  const mounts = [
    { name: VOLUME, mountPath: FOLDER, readOnly: true },
    ...(git.copied ? [{ name: SECRET_VOLUME, mountPath: SECRET_FOLDER, readOnly: true }] : []),
  ]
  const cloner: V1Container = {
    name: CLONER,
    image: clonerImageOf(settings),
    command: ['sh', `${FOLDER}/clone.sh`],
    env: [...env, { name: 'PROJECTS_ROOT', value: data.mountPath }, { name: 'HOME', value: '/tmp' }],
    volumeMounts: [
      data,
      ...mounts,
      ...(hasNames ? [{ name: VOLUME, mountPath: '/etc/passwd', subPath: NAMES, readOnly: true }] : []),
    ],
    ...body,
  }
  const waiter: V1Container = { ...cloner, name: `${CLONER}-awaited`, command: ['sh', `${FOLDER}/await-clone.sh`] }
  return {
    cloner,
    waiter,
    volumes: [
      { name: VOLUME, projected: { defaultMode: EXECUTABLE, sources } },
      ...(git.copied ? [{ name: SECRET_VOLUME, secret }] : []),
    ],
    env,
    mounts,
  }
}

function sourcesOf({ uid, kasUrl }: GitPlan, objectName: string): V1VolumeProjection[] {
  const serviceAccountToken = { path: 'token/token', audience: gitAudienceOf(uid), expirationSeconds: TOKEN_SECONDS }
  return [{ configMap: { name: gitNameOf(objectName) } }, ...(kasUrl === undefined ? [] : [{ serviceAccountToken }])]
}

/** Of the ConfigMap with the files, and of the copied Secret. */
export const gitNameOf = (objectName: string): string => `${objectName}-git`
