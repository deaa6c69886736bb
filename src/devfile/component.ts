import { amountOf } from '../std/index.ts'
import type { Container, Endpoint, EnvVar, Resources, Volume, VolumeMount } from './devfile.ts'
import type { Place } from './node.ts'

export const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const NAME_RULE = "must be at most 63 lower case letters, digits and '-', beginning and ending with a letter or digit"
const ENDPOINT_NAME = /^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/
const ENDPOINT_NAME_RULE = "must be at most 15 lower case letters, digits and '-', beginning and ending with a letter or digit"
/** As the API server reads the name of an environment variable. */
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/

const COMPONENT = ['name', 'attributes', 'container', 'volume', 'kubernetes', 'openshift', 'image']
const NOT_YET = ['kubernetes', 'openshift', 'image']
const CONTAINER = [
  'image',
  'command',
  'args',
  'env',
  'endpoints',
  'volumeMounts',
  'cpuRequest',
  'cpuLimit',
  'memoryRequest',
  'memoryLimit',
  'mountSources',
  'sourceMapping',
  'dedicatedPod',
  'annotation',
]
const RESERVED = ['PROJECTS_ROOT', 'PROJECT_SOURCE']
const EDITOR = ['gl/inject-editor', 'berth.dev/inject-editor']

export interface Components {
  containers: Located<Container>[]
  volumes: Located<Volume>[]
}

/** A part with its place, for the rules that look at several parts. */
export interface Located<T> {
  value: T
  place: Place
}

export function readComponents(list: Place): Components {
  const found: Components = { containers: [], volumes: [] }
  for (const item of list.list()) readComponent(item, found)
  return found
}

function readComponent(item: Place, found: Components): void {
  const component = item.mapping(COMPONENT)
  if (!component) return
  const place = component.at('name')
  const name = place.required(place.matching(NAME, NAME_RULE)) ?? ''
  const kinds = COMPONENT.slice(2).filter((kind) => component.keys().includes(kind))
  if (kinds.length !== 1) {
    component.problem(
      `must be exactly one of ${COMPONENT.slice(2).join(', ')}${kinds.length > 0 ? `, not ${kinds.join(' and ')}` : ''}`,
    )
  }
  for (const kind of kinds) {
    if (NOT_YET.includes(kind))
      component.at(kind).problem(`components of kind ${kind} are not supported; use container and volume`)
  }
  if (kinds.includes('container')) addDefined(found.containers, readContainer(name, component), place)
  if (kinds.includes('volume')) addDefined(found.volumes, readVolume(name, component.at('volume')), place)
}

function addDefined<T>(list: Located<T>[], value: T | undefined, place: Place): void {
  if (value !== undefined) list.push({ value, place })
}

function readContainer(name: string, component: Place): Container | undefined {
  const container = component.at('container').mapping(CONTAINER)
  if (!container) return undefined
  if (container.at('dedicatedPod').flag(false)) {
    container.at('dedicatedPod').problem('pods of their own are not supported; leave dedicatedPod out')
  }
  if (container.at('annotation').exists) container.at('annotation').warning('is not applied')
  const command = texts(container.at('command'))
  const args = texts(container.at('args'))
  return {
    name,
    image: readImage(container.at('image')),
    command,
    args,
    env: container.at('env').list().flatMap(readEnv),
    endpoints: container.at('endpoints').list().flatMap(readEndpoint),
    volumeMounts: container.at('volumeMounts').list().flatMap(readMount),
    resources: readResources(container),
    mountSources: container.at('mountSources').flag(true),
    sourceMapping: absolute(container.at('sourceMapping')) ?? '/projects',
    overrideCommand: readOverride(component.at('attributes'), command.length + args.length > 0),
  }
}

function readImage(place: Place): string {
  const image = place.required(place.filledText()) ?? ''
  if (place.exists && (image === '' || /\s/.test(image))) place.problem(`"${image}" is not the name of an image`)
  return image
}

const texts = (list: Place): string[] => list.list().map((item) => item.filledText() ?? '')

/** A container that gets the editor stays alive by itself, unless it says what it runs. */
function readOverride(attributes: Place, runs: boolean): boolean {
  const place = attributes.at('overrideCommand')
  const wanted = place.flag(EDITOR.some((key) => attributes.at(key).flag(false)) && !runs)
  if (place.exists && wanted && runs) place.problem('overrideCommand and command or args exclude each other; leave one out')
  return wanted
}

function readEnv(item: Place): EnvVar[] {
  const entry = item.mapping(['name', 'value'])
  const name = entry?.at('name').required(entry.at('name').matching(ENV_NAME, 'is not the name of an environment variable'))
  const value = entry?.at('value').required(entry.at('value').filledText())
  if (name !== undefined && RESERVED.includes(name))
    item.at('name').problem(`${name} is set for every workspace; choose another name`)
  return name === undefined || value === undefined ? [] : [{ name, value }]
}

function readEndpoint(item: Place): Endpoint[] {
  const endpoint = item.mapping(['name', 'targetPort', 'exposure', 'protocol', 'secure', 'path', 'attributes', 'annotation'])
  if (!endpoint) return []
  const name = endpoint.at('name').required(endpoint.at('name').matching(ENDPOINT_NAME, ENDPOINT_NAME_RULE))
  const targetPort = endpoint.at('targetPort').required(endpoint.at('targetPort').integer(1, 65_535))
  const rest = {
    exposure: endpoint.at('exposure').oneOf(['public', 'internal', 'none'], 'public'),
    protocol: endpoint.at('protocol').oneOf(['http', 'https', 'ws', 'wss', 'tcp', 'udp'], 'http'),
    secure: endpoint.at('secure').flag(false),
    path: endpoint.at('path').filledText() ?? '',
  }
  return name === undefined || targetPort === undefined ? [] : [{ name, targetPort, ...rest }]
}

function readMount(item: Place): VolumeMount[] {
  const mount = item.mapping(['name', 'path'])
  const name = mount?.at('name').required(mount.at('name').matching(NAME, NAME_RULE))
  if (!mount || name === undefined) return []
  return [{ name, path: absolute(mount.at('path')) ?? `/${name}` }]
}

/** A path in a container. `:` would end it, `..` would lead out of where it seems to be. */
function absolute(place: Place): string | undefined {
  const path = place.filledText()
  if (path === undefined) return undefined
  if (!path.startsWith('/') || path.includes(':') || path.split('/').includes('..')) {
    return place.problem(`"${path}" must be an absolute path without ".." and ":"`)
  }
  return path
}

function readResources(container: Place): Resources {
  const pairs = [['cpuRequest', 'cpuLimit'] as const, ['memoryRequest', 'memoryLimit'] as const]
  const resources: Resources = {}
  for (const [request, limit] of pairs) {
    const asked = readQuantity(container.at(request))
    const most = readQuantity(container.at(limit))
    if (asked !== undefined) resources[request] = asked
    if (most !== undefined) resources[limit] = most
    if (asked !== undefined && most !== undefined && (bytesOf(asked) ?? 0) > (bytesOf(most) ?? 0)) {
      container.at(request).problem(`${request} ${asked} must not exceed ${limit} ${most}`)
    }
  }
  return resources
}

function readQuantity(place: Place): string | undefined {
  const text = place.filledText()
  if (text === undefined || bytesOf(text) !== undefined) return text
  return place.problem(`"${text}" is not a quantity; write 500m, 2 or 512Mi`)
}

function readVolume(name: string, place: Place): Volume | undefined {
  if (!place.exists) return { name, size: undefined, ephemeral: false }
  const volume = place.mapping(['size', 'ephemeral'])
  return volume && { name, size: readQuantity(volume.at('size')), ephemeral: volume.at('ephemeral').flag(false) }
}

/** No resource of a container is less than nothing. */
function bytesOf(written: string): number | undefined {
  const value = amountOf(written)
  return value !== undefined && value >= 0 ? value : undefined
}
