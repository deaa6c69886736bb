import type { Workspace, WorkspaceClassSpec, WorkspaceStatus } from '../../../api/index.ts'
import { type Devfile, type DevfileEndpoint, isAppliedAtStart } from '../../../devfile/index.ts'
import { withoutEnd } from '../../../std/index.ts'
import { digest } from './names.ts'

/** A DNS label has 63 characters; the longest port number and its dash take the rest. */
const LONGEST = 57
const MARK = 12

/** The host of a port, as the proxy fills it in; `undefined` where workspaces are not published. */
export const hostTemplateOf = (workspace: Workspace, { dnsZone }: WorkspaceClassSpec): string | undefined =>
  dnsZone ? `{{.port}}-${hostNameOf(workspace)}.${dnsZone}` : undefined

/**
 * The name, and a mark of namespace and name: workspaces of one name in two namespaces never share a host. It says always the
 * same, also for a workspace that is made again. Whoever wants another's host would have to hit 62 bits by chance.
 */
function hostNameOf({ metadata: { name, namespace } }: Workspace): string {
  const mark = BigInt(`0x${digest(`${namespace}/${name}`)}`)
    .toString(36)
    .slice(-MARK)
  return `${withoutEnd(name.slice(0, LONGEST - MARK - 1), '-')}-${mark}`
}

/** A port by which a workspace is reached from outside its pod. */
export interface Port {
  name: string
  port: number
  isPublic: boolean
  isUdp: boolean
  path: string
}

const EDITOR_PORT = 60_001

/** The port of the editor; nothing where the class brings none. */
export const editorPortOf = ({ editor }: WorkspaceClassSpec): number | undefined =>
  editor?.image ? (editor.port ?? EDITOR_PORT) : undefined

/** The editor, endpoints of the devfile, then the workspace's own ports; what only containers of the pod use is left out. */
export function portsOf({ spec }: Workspace, devfile: Devfile, settings: WorkspaceClassSpec): Port[] {
  const manifests = devfile.manifests.filter((each) => isAppliedAtStart(devfile, each))
  const all = [...devfile.containers, ...manifests].flatMap((component) => component.endpoints)
  const endpoints = all.filter(({ exposure }) => exposure !== 'none')
  const open = (name: string, port: number): Port => ({ name, port, isPublic: true, isUdp: false, path: '' })
  const editor = editorPortOf(settings)
  const own = (spec.ports ?? []).map(({ name, port }) => open(name, port))
  const names = new Set<string>()
  return [...(editor === undefined ? [] : [open('editor-server', editor)]), ...endpoints.map(portFrom), ...own].filter(
    ({ name }) => !names.has(name) && names.add(name),
  )
}

const portFrom = ({ name, targetPort, exposure, protocol, path }: DevfileEndpoint): Port => ({
  name,
  port: targetPort,
  isPublic: exposure === 'public',
  isUdp: protocol === 'udp',
  path,
})

/** The ports as the status tells them: with a URL where they are reached by one. */
export function publishedPorts(ports: readonly Port[], template: string | undefined): NonNullable<WorkspaceStatus['ports']> {
  // A host is known by its number: where pods beside the workspace have the same one, the first is meant.
  const isFirst = (port: Port) => ports.find((each) => each.port === port.port) === port
  const urlOf = ({ port, path }: Port, host: string) =>
    `https://${host.replace('{{.port}}', String(port))}${path.startsWith('/') ? path : `/${path}`}`
  return ports.map((each) => ({
    name: each.name,
    port: each.port,
    ...(template && each.isPublic && isFirst(each) && { url: urlOf(each, template) }),
  }))
}
