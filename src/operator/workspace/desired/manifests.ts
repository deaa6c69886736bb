import { type KubeObject, labels, MANAGED_BY_BERTH } from '../../../api/index.ts'
import { type Devfile, isAppliedAtStart, type Manifest } from '../../../devfile/index.ts'
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
  objects: KubeObject[]
  problems: string[]
}

/** The Kubernetes objects that a devfile brings along from the start, or what is wrong with them. */
export function readManifests(devfile: Devfile): Reading {
  const readings = devfile.manifests.filter((each) => isAppliedAtStart(devfile, each)).map(readManifest)
  const objects = readings.flatMap((reading) => reading.objects)
  const problems = readings.flatMap((reading) => reading.problems)
  const seen = new Set<string>()
  for (const { apiVersion, kind, metadata } of objects) {
    const key = `${apiVersion} ${kind} ${metadata.name}`
    if (seen.has(key)) problems.push(`${kind} ${metadata.name} is in kubernetes components twice (leave one out)`)
    seen.add(key)
  }
  if (objects.length > MOST) problems.push(`${objects.length} Kubernetes objects are more than ${MOST} (leave some out)`)
  return { objects, problems }
}

function readManifest({ name, kind, source }: Manifest): Reading {
  const refuse = (why: string): Reading => ({ objects: [], problems: [`component "${name}" of kind ${kind}: ${why}`] })
  if ('uri' in source) return refuse('a uri is not read by this version (write the objects into inlined)')
  const { documents, problem } = parseYaml(source.inlined)
  if (problem) return refuse(`line ${problem.line}, column ${problem.column} of inlined: ${problem.message}`)
  const readings = documents.map(({ line, value }) => {
    const why = whyNot(value)
    return why ? refuse(`line ${line} of inlined: ${why}`) : { objects: isObject(value) ? [bare(value)] : [], problems: [] }
  })
  return { objects: readings.flatMap((each) => each.objects), problems: readings.flatMap((each) => each.problems) }
}

function whyNot(value: unknown): string | undefined {
  if (!isObject(value)) return 'not a Kubernetes object (it needs apiVersion, kind and metadata.name)'
  if ('items' in value) return `${value.kind} is a list (write its items as documents of their own)`
  const group = groupOf(value)
  if (!REFUSED.some((each) => group === each)) return undefined
  return `objects of ${group} are not made for workspaces (leave ${value.kind} ${value.metadata.name} out)`
}

export const groupOf = ({ apiVersion }: KubeObject): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '')

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
  return readManifests(devfile).objects.map(({ metadata, ...rest }) => ({
    ...rest,
    metadata: {
      ...metadata,
      namespace: metadata.namespace ?? namespace,
      labels: {
        ...metadata.labels,
        [labels.managedBy]: MANAGED_BY_BERTH,
        [labels.workspace]: workspace.metadata.name,
        [labels.workspaceManifest]: workspace.metadata.uid ?? '',
      },
    },
  }))
}
