import type { V1EnvVar } from '@kubernetes/client-node'
import { hostTemplateOf } from './hosts.ts'
import { objectNameOf } from './names.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { DATA } from './volumes.ts'

/** On the volume that lasts: the logs of a start can be read after the next one, and after a failed one. */
export const LOGS = '/.workspace-data/logs'

/** Tells programs in a workspace where they are. GitLab's tools look for the names that begin with GL_. */
export function environmentAddition({ workspace, settings }: WorkspacePlan): Addition {
  const template = hostTemplateOf(workspace, settings)
  const env: V1EnvVar[] = [
    { name: 'BERTH_WORKSPACE', value: workspace.metadata.name },
    { name: 'GL_WORKSPACE_LOGS_DIR', value: LOGS },
    ...(template ? [{ name: 'GL_WORKSPACE_DOMAIN_TEMPLATE', value: template.replace('{{.port}}', '${PORT}') }] : []),
  ]
  return { env, mounts: [{ name: DATA, mountPath: LOGS, subPath: 'logs' }] }
}

const VARIABLES = 'workspace-variables'
const FOLDER = '/.workspace-data/variables/file'
/** Any user of group 0 that runs the container reads and runs the files. */
const MODE = 0o774

/** Each refresh has a Secret of its own: the pods of before keep theirs, and the new ones never mix both. */
export const variablesNameOf = ({ workspace, variablesMark = '' }: Pick<WorkspacePlan, 'workspace' | 'variablesMark'>): string =>
  [objectNameOf(workspace), 'variables', variablesMark].filter(Boolean).join('-')

/** Gives every container the variables of the frozen Secret; of files, the path to them. */
export function variablesAddition(plan: WorkspacePlan): Addition {
  const { list = [] } = plan.variables
  const secretName = variablesNameOf(plan)
  if (list.length === 0) return {}
  const files = list.filter(({ type }) => type === 'file').map(({ name }) => name)
  // All keys are variables by this; of those that are files the path, which stands in `env`, wins.
  const envFrom = [{ secretRef: { name: secretName } }]
  if (files.length === 0) return { envFrom }
  const items = files.map((name) => ({ key: name, path: name }))
  return {
    envFrom,
    env: files.map((name) => ({ name, value: `${FOLDER}/${name}` })),
    volumes: [{ name: VARIABLES, secret: { secretName, defaultMode: MODE, items } }],
    mounts: [{ name: VARIABLES, mountPath: FOLDER, readOnly: true }],
  }
}
