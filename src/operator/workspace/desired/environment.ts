import type { V1EnvVar } from '@kubernetes/client-node'
import { hostTemplateOf } from './hosts.ts'
import type { Addition, Plan } from './plan.ts'
import { DATA } from './volumes.ts'

/** On the volume that lasts: the logs of a start can be read after the next one, and after a failed one. */
export const LOGS = '/.workspace-data/logs'

/** What every workspace tells what runs in it. Names that begin with GL_ are those that GitLab's tools look for. */
export function environmentAddition({ workspace, settings }: Plan): Addition {
  const template = hostTemplateOf(workspace, settings)
  const env: V1EnvVar[] = [
    { name: 'BERTH_WORKSPACE', value: workspace.metadata.name },
    { name: 'GL_WORKSPACE_LOGS_DIR', value: LOGS },
    ...(template ? [{ name: 'GL_WORKSPACE_DOMAIN_TEMPLATE', value: template.replace('{{.port}}', '${PORT}') }] : []),
  ]
  return { env, mounts: [{ name: DATA, mountPath: LOGS, subPath: 'logs' }] }
}
