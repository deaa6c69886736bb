import { type KubeObject, labels, MANAGED_BY_BERTH, type Workspace } from '../../../api/index.ts'
import { type Devfile, isAppliedAtStart, type Manifest } from '../../../devfile/index.ts'
import { groupOf } from '../../../engines/apply/index.ts'
import { isRecord, parseYaml } from '../../../std/index.ts'
import type { Plan } from './plan.ts'

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
  // Where a Service leads: the proxy is let in everywhere, and believes it.
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

interface Reading {
  objects: Brought[]
  problems: string[]
}

/** An object, and the component that brings it. */
interface Brought {
  component: string
  object: KubeObject
}

/** The Kubernetes objects that a devfile brings along from the start, or what is wrong with them. */
export function readManifests(devfile: Devfile): Reading {
  const readings = devfile.manifests.filter((each) => isAppliedAtStart(devfile, each)).map(readManifest)
  const objects = readings.flatMap((reading) => reading.objects)
  const problems = readings.flatMap((reading) => reading.problems)
  const seen = new Set<string>()
  for (const {
    object: { apiVersion, kind, metadata },
  } of objects) {
    const key = `${apiVersion} ${kind} ${metadata.name}`
    if (seen.has(key)) problems.push(`${kind} ${metadata.name} is in kubernetes components twice (leave one out)`)
    seen.add(key)
  }
  problems.push(...unserved(devfile, objects))
  if (objects.length > MOST) problems.push(`${objects.length} Kubernetes objects are more than ${MOST} (leave some out)`)
  return { objects, problems }
}

/** Of components whose endpoints lead to no pod. */
const unserved = (devfile: Devfile, objects: readonly Brought[]): string[] =>
  served(devfile)
    .filter(({ name, source }) => 'inlined' in source && !objects.some((each) => each.component === name && hasPods(each.object)))
    .map(
      ({ name, kind }) =>
        `component "${name}" of kind ${kind} has endpoints, but no pods for them (add a Deployment, or leave them out)`,
    )

/** The components that are reached from outside their pods. */
export const served = (devfile: Devfile): Manifest[] =>
  devfile.manifests.filter(
    (each) => isAppliedAtStart(devfile, each) && each.endpoints.some(({ exposure }) => exposure !== 'none'),
  )

function readManifest({ name, kind, source }: Manifest): Reading {
  const refuse = (why: string): Reading => ({ objects: [], problems: [`component "${name}" of kind ${kind}: ${why}`] })
  if ('uri' in source) return refuse('its uri is read by kas, and no kas is known (write the objects into inlined)')
  const { documents, problem } = parseYaml(source.inlined)
  if (problem) return refuse(`line ${problem.line}, column ${problem.column} of inlined: ${problem.message}`)
  const readings = documents.map(({ line, value }) => {
    const why = whyNot(value)
    return why
      ? refuse(`line ${line} of inlined: ${why}`)
      : { objects: isObject(value) ? [{ component: name, object: bare(value) }] : [], problems: [] }
  })
  return { objects: readings.flatMap((each) => each.objects), problems: readings.flatMap((each) => each.problems) }
}

function whyNot(value: unknown): string | undefined {
  if (!isObject(value)) return 'not a Kubernetes object (it needs apiVersion, kind and metadata.name)'
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
export function manifestsOf({ workspace, devfile, namespace }: Omit<Plan, 'variables'>): KubeObject[] {
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

/** What the devfile's objects and their pods have in common. */
export const selectorOfManifests = ({ metadata }: Workspace): Record<string, string> => ({
  [labels.workspaceManifest]: metadata.uid ?? '',
})

const MAKERS = [
  'apps/v1 Deployment',
  'apps/v1 StatefulSet',
  'apps/v1 DaemonSet',
  'apps/v1 ReplicaSet',
  'v1 ReplicationController',
]

/** Whether pods come of it that stay: Jobs serve nobody, and of their templates nothing may be changed later. */
export const hasPods = ({ apiVersion, kind }: KubeObject): boolean => [...MAKERS, 'v1 Pod'].includes(`${apiVersion} ${kind}`)

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
