import { groupOf, type KubeObject } from '../../api/index.ts'
import { type Devfile, isAppliedAtStart, type ManifestComponent } from '../../devfile/index.ts'
import { isRecord, parseYaml, type ReadYaml } from '../../std/index.ts'
import { componentAt, type DevfileRefusal } from './refusal.ts'

/** Groups whose objects decide what others may do, and Berth's own: nobody gets them by way of a workspace. */
const REFUSED = [
  'rbac.authorization.k8s.io',
  'authorization.k8s.io',
  'authorization.openshift.io',
  'authentication.k8s.io',
  'admissionregistration.k8s.io',
  'apiregistration.k8s.io',
  'apiextensions.k8s.io',
  'certificates.k8s.io',
  // EndpointSlices say where a Service leads: the proxy is let in everywhere, and believes them.
  'discovery.k8s.io',
  'oauth.openshift.io',
  'security.openshift.io',
  'user.openshift.io',
  'berth.dev',
  'appstudio.redhat.com',
  'managed-gitops.redhat.com',
  'toolchain.dev.openshift.com',
]
const MOST = 64

/** An object, and the component that brings it. */
interface ManifestObject {
  component: string
  object: KubeObject
}

interface ManifestReading {
  objects: ManifestObject[]
  refusals: DevfileRefusal[]
}

/**
 * With what stands in the texts of its Kubernetes objects. A program of many users has a thread for it: read when they are looked at, a
 * devfile of 60 KB would keep everybody waiting for a second each time.
 */
export async function withManifestsRead(devfile: Devfile, read: ReadYaml): Promise<Devfile> {
  const manifests: ManifestComponent[] = []
  for (const each of devfile.manifests) {
    const { source } = each
    manifests.push('uri' in source ? each : { ...each, source: { ...source, read: await read(source.inlined) } })
  }
  return { ...devfile, manifests }
}

/** The Kubernetes objects that a devfile brings along from the start, or what is wrong with them. */
export function readManifests(devfile: Devfile): ManifestReading {
  const readings = devfile.manifests.filter((each) => isAppliedAtStart(devfile, each)).map(readManifest)
  const objects = readings.flatMap((each) => each.objects)
  const refusals = readings.flatMap((each) => each.refusals)
  const seen = new Set<string>()
  for (const { component, object } of objects) {
    const name = `${object.kind} ${object.metadata.name}`
    const key = `${object.apiVersion} ${name}`
    const at = componentAt(component)
    if (seen.has(key)) refusals.push({ at, message: `${name} is in kubernetes components twice`, remedy: 'leave one out' })
    seen.add(key)
  }
  refusals.push(...unserved(devfile, objects))
  const tooMany = `${objects.length} Kubernetes objects are more than ${MOST}`
  if (objects.length > MOST) refusals.push({ at: ['components'], message: tooMany, remedy: 'leave some out' })
  return { objects, refusals }
}

/** The objects that a devfile names by uri: they are read once, and kept with it. */
export const manifestsByUri = (devfile: Devfile): { name: string; kind: string; uri: string }[] =>
  devfile.manifests
    .filter((each) => isAppliedAtStart(devfile, each))
    .flatMap(({ name, kind, source }) => ('uri' in source ? [{ name, kind, uri: source.uri }] : []))

/** Says which components have endpoints that lead to no pod. */
const unserved = (devfile: Devfile, objects: readonly ManifestObject[]): DevfileRefusal[] =>
  served(devfile)
    .filter(({ name, source }) => 'inlined' in source && !objects.some((each) => each.component === name && hasPods(each.object)))
    .map(({ name, kind }) => ({
      at: componentAt(name, kind, 'endpoints'),
      message: `component "${name}" of kind ${kind} has endpoints, but no pods for them`,
      remedy: 'add a Deployment, or leave them out',
    }))

/** The components that are reached from outside their pods. */
export const served = (devfile: Devfile): ManifestComponent[] =>
  devfile.manifests.filter(
    (each) => isAppliedAtStart(devfile, each) && each.endpoints.some(({ exposure }) => exposure !== 'none'),
  )

function readManifest({ name, kind, source }: ManifestComponent): ManifestReading {
  const at = componentAt(name, kind, 'uri' in source ? 'uri' : 'inlined')
  const refusal = (why: string, remedy: string): DevfileRefusal => ({
    at,
    message: `component "${name}" of kind ${kind}: ${why}`,
    remedy,
  })
  const refuse = (why: string, remedy: string): ManifestReading => ({ objects: [], refusals: [refusal(why, remedy)] })
  if ('uri' in source) return refuse('its uri is read by kas, and no kas is known', 'write the objects into inlined')
  const { documents, problem } = source.read ?? parseYaml(source.inlined)
  if (problem)
    return refuse(`line ${problem.line}, column ${problem.column} of inlined: ${problem.message}`, 'correct the YAML there')
  const reading: ManifestReading = { objects: [], refusals: [] }
  for (const { line, value } of documents) {
    const found = objectIn(value)
    if ('object' in found) reading.objects.push({ component: name, object: found.object })
    else reading.refusals.push(refusal(`line ${line} of inlined: ${found.why}`, found.remedy))
  }
  return reading
}

/** The object of a document, or why it is refused. */
function objectIn(value: unknown): { object: KubeObject } | { why: string; remedy: string } {
  if (!isObject(value)) return { why: 'not a Kubernetes object', remedy: 'it needs apiVersion, kind and metadata.name' }
  const { apiVersion, kind, metadata } = value
  if ('items' in value) return { why: `${kind} is a list`, remedy: 'write its items as documents of their own' }
  const group = groupOf(apiVersion)
  if (!REFUSED.some((each) => group === each)) return { object: bare(value) }
  return { why: `objects of ${group} are not made for workspaces`, remedy: `leave ${kind} ${metadata.name} out` }
}

function isObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || !isRecord(value.metadata)) return false
  return [value.apiVersion, value.kind, value.metadata.name].every((each) => typeof each === 'string' && each !== '')
}

/** Only what a person may say of an object: owners, finalizers and what the server fills in are left out. */
function bare(object: KubeObject): KubeObject {
  const { metadata, ...content } = object
  const { name, namespace, labels: marks, annotations } = metadata
  const rest = Object.fromEntries(Object.entries(content).filter(([field]) => field !== 'status'))
  const kept = {
    name,
    ...(namespace && { namespace }),
    ...(marks && { labels: textsIn(marks) }),
    ...(annotations && { annotations: textsIn(annotations) }),
  }
  return { ...rest, apiVersion: object.apiVersion, kind: object.kind, metadata: kept }
}

const textsIn = (map: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).flatMap(([key, value]) => (isOurs(key) ? [] : [[key, String(value)]])))

/** True for the key of a label or annotation that only Berth writes. */
export const isOurs = (key: string): boolean => /^([^/]*\.)?berth\.dev\//.test(key)

const KINDS_WITH_PODS = [
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].map((kind) => `apps/v1 ${kind}`),
  'v1 ReplicationController',
  'v1 Pod',
]

/** Pods come of it that stay: Jobs serve nobody, and of their templates nothing may be changed later. */
export const hasPods = ({ apiVersion, kind }: KubeObject): boolean => KINDS_WITH_PODS.includes(`${apiVersion} ${kind}`)
