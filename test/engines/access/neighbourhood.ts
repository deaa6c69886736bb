import type { Workspace, WorkspaceSpec } from '../../../src/api/index.ts'

export const ZONE = 'workspaces.example.com'

/** A workspace as the operator leaves it when it runs: each port is published. */
export function published(
  name: string,
  { spec = {}, maxVisibility, ports = [{ name: 'app', port: 3000 }] }: Partial<Published> = {},
): Workspace {
  return {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}` },
    spec: { owner: 'ada@example.com', ...spec },
    status: {
      actualState: 'Running',
      class: { settings: { ...(maxVisibility && { proxy: { maxVisibility } }) } },
      ports: ports.map(({ isClosed, ...port }) => ({
        ...port,
        ...(!isClosed && { url: `https://${port.port}-${name}.${ZONE}/` }),
      })),
    },
  }
}

interface Published {
  spec: WorkspaceSpec
  maxVisibility: 'owner' | 'members' | 'authenticated' | 'public'
  ports: { name: string; port: number; isClosed?: boolean }[]
}
