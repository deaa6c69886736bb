import { groupOf, type KubeObject, labels, MANAGED_BY_BERTH, type Workspace } from '../../../api/index.ts'
import { type Devfile, isAppliedAtStart, type ManifestComponent } from '../../../devfile/index.ts'
import { isRecord, parseYaml } from '../../../std/index.ts'
import type { WorkspacePlan } from './plan.ts'

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
  problems: string[]
}

/** The Kubernetes objects that a devfile brings along from the start, or what is wrong with them. */
export function readManifests(devfile: Devfile): ManifestReading {
  const readings = devfile.manifests.filter((each) => isAppliedAtStart(devfile, each)).map(readManifest)
  const objects = readings.flatMap((each) => each.objects)
  const problems = readings.flatMap((each) => each.problems)
  const seen = new Set<string>()
  for (const { object } of objects) {
    const name = `${object.kind} ${object.metadata.name}`
    const key = `${object.apiVersion} ${name}`
    if (seen.has(key)) problems.push(`${name} is in kubernetes components twice (leave one out)`)
    seen.add(key)
  }
  problems.push(...unserved(devfile, objects))
  if (objects.length > MOST) problems.push(`${objects.length} Kubernetes objects are more than ${MOST} (leave some out)`)
  return { objects, problems }
}

/** Says which components have endpoints that lead to no pod. */
const unserved = (devfile: Devfile, objects: readonly ManifestObject[]): string[] =>
  served(devfile)
    .filter(({ name, source }) => 'inlined' in source && !objects.some((each) => each.component === name && hasPods(each.object)))
    .map(
      ({ name, kind }) =>
        `component "${name}" of kind ${kind} has endpoints, but no pods for them (add a Deployment, or leave them out)`,
    )

/** The components that are reached from outside their pods. */
export const served = (devfile: Devfile): ManifestComponent[] =>
  devfile.manifests.filter(
    (each) => isAppliedAtStart(devfile, each) && each.endpoints.some(({ exposure }) => exposure !== 'none'),
  )

function readManifest({ name, kind, source }: ManifestComponent): ManifestReading {
  const refusal = (why: string) => `component "${name}" of kind ${kind}: ${why}`
  const refuse = (why: string): ManifestReading => ({ objects: [], problems: [refusal(why)] })
  if ('uri' in source) return refuse('its uri is read by kas, and no kas is known (write the objects into inlined)')
  const { documents, problem } = parseYaml(source.inlined)
  if (problem) return refuse(`line ${problem.line}, column ${problem.column} of inlined: ${problem.message}`)
  const reading: ManifestReading = { objects: [], problems: [] }
  for (const { line, value } of documents) {
    const isKubeObject = isObject(value)
    const why = isKubeObject ? whyNot(value) : 'not a Kubernetes object (it needs apiVersion, kind and metadata.name)'
    if (isKubeObject && !why) reading.objects.push({ component: name, object: bare(value) })
    else reading.problems.push(refusal(`line ${line} of inlined: ${why}`))
  }
  return reading
}

/** Says why an object is refused, if it is. */
function whyNot(value: KubeObject): string | undefined {
  if ('items' in value) return `${value.kind} is a list (write its items as documents of their own)`
  const group = groupOf(value.apiVersion)
  if (!REFUSED.some((each) => group === each)) return undefined
  return `objects of ${group} are not made for workspaces (leave ${value.kind} ${value.metadata.name} out)`
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

const isOurs = (key: string): boolean => /^([^/]*\.)?berth\.dev\//.test(key)

/** As they are applied: in the workspace's namespace, with its mark. That of its pods would make them parts of it. */
export function manifestsOf({ workspace, devfile, namespace }: Omit<WorkspacePlan, 'variables'>): KubeObject[] {
  return readManifests(devfile).objects.map(({ component, object }) => {
    const marks = { ...selectorOfManifests(workspace), [labels.workspaceComponent]: component }
    const { metadata, ...rest } = withMarkedPods(object, marks)
    return {
      ...rest,
      metadata: {
        ...metadata,
        namespace: metadata.namespace ?? namespace,
        labels: {
          ...metadata.labels,
          [labels.managedBy]: MANAGED_BY_BERTH,
          [labels.workspace]: workspace.metadata.name,
          ...selectorOfManifests(workspace),
        },
      },
    }
  })
}

/** Labels that the devfile's objects and their pods have in common. */
export const selectorOfManifests = ({ metadata }: Workspace): Record<string, string> => ({
  [labels.workspaceManifest]: metadata.uid ?? '',
})

const KINDS_WITH_PODS = [
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].map((kind) => `apps/v1 ${kind}`),
  'v1 ReplicationController',
  'v1 Pod',
]

/** Pods come of it that stay: Jobs serve nobody, and of their templates nothing may be changed later. */
export const hasPods = ({ apiVersion, kind }: KubeObject): boolean => KINDS_WITH_PODS.includes(`${apiVersion} ${kind}`)

/** Its pods can be found by their component, and nobody takes them for pods of the workspace itself. */
function withMarkedPods(object: KubeObject, marks: Record<string, string>): KubeObject {
  if (!hasPods(object)) return object
  if (object.kind === 'Pod')
    return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...marks } } }
  const spec = 'spec' in object && isRecord(object.spec) ? object.spec : {}
  const template = isRecord(spec.template) ? spec.template : {}
  const metadata = isRecord(template.metadata) ? template.metadata : {}
  const own = Object.entries(isRecord(metadata.labels) ? metadata.labels : {}).filter(([key]) => !isOurs(key))
  const pod = { ...template, metadata: { ...metadata, labels: { ...Object.fromEntries(own), ...marks } } }
  return { ...object, ...{ spec: { ...spec, template: pod } } }
}
