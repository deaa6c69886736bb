import type { V1Container } from '@kubernetes/client-node'
import { type ConfigMap, ConfigMaps, tunnelAudienceOf } from '../../../api/index.ts'
import type { Piece } from '../../../engines/apply/index.ts'
import { envelope } from './envelope.ts'
import { objectNameOf } from './names.ts'
import type { Addition, WorkspacePlan } from './plan.ts'

const VOLUME = 'workspace-tunnel'
const FOLDER = '/var/run/berth/tunnel'
const CA = 'kas-ca.crt'
/** An hour, renewed by the kubelet long before; agentw reads it anew for each tunnel. */
const TOKEN_SECONDS = 3600
const SECURITY = {
  privileged: false,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}
/** A program that carries bytes needs little; limits are there because a quota may ask for them. */
export const TUNNEL_RESOURCES = { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '500m', memory: '256Mi' } }

/**
 * agentw, in a container of its own beside the people's: it shares their network, and so their loopback, and nothing else. Its token
 * is mounted nowhere else, so that nobody in the workspace can open tunnels in its name.
 */
export function tunnelAddition(plan: WorkspacePlan): Addition {
  const { tunnel, workspace } = plan
  const { uid = '', name, namespace } = workspace.metadata
  if (!tunnel) return {}
  const agentw: V1Container = {
    name: 'berth-agentw',
    image: tunnel.image,
    args: ['agentw'],
    env: [
      { name: 'BERTH_KAS_ADDRESS', value: tunnel.kas },
      { name: 'BERTH_TOKEN_FILE', value: `${FOLDER}/token` },
      { name: 'BERTH_WORKSPACE_KEY', value: `${namespace}/${name}` },
      ...(tunnel.kasCa === undefined ? [] : [{ name: 'BERTH_KAS_CA', value: `${FOLDER}/${CA}` }]),
    ],
    resources: TUNNEL_RESOURCES,
    volumeMounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
    securityContext: SECURITY,
  }
  const serviceAccountToken = { path: 'token', audience: tunnelAudienceOf(uid), expirationSeconds: TOKEN_SECONDS }
  const authority = tunnel.kasCa === undefined ? [] : [{ configMap: { name: caNameOf(plan) } }]
  return {
    beside: [agentw],
    volumes: [{ name: VOLUME, projected: { defaultMode: 0o440, sources: [{ serviceAccountToken }, ...authority] } }],
  }
}

/** The certificate authority of kas, where it has one of its own. */
export function tunnelPiecesOf(plan: WorkspacePlan): Piece[] {
  const { tunnel } = plan
  if (tunnel?.kasCa === undefined) return []
  const object: ConfigMap = { ...envelope(plan, ConfigMaps, caNameOf(plan)), data: { [CA]: tunnel.kasCa } }
  return [{ kind: ConfigMaps, object }]
}

const caNameOf = ({ workspace }: WorkspacePlan): string => `${objectNameOf(workspace)}-tunnel`
