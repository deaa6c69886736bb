import { isAllowedToUs, type ResourceAttributes } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import { remedyFor } from '../options.ts'
import { type CheckContext, type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

const OLDEST_MINOR = 30

/** Does the API answer, and is it new enough? Nothing else is examined when it does not. */
export async function examineApi({ kube }: CheckContext): Promise<DoctorFinding> {
  const began = performance.now()
  try {
    const { gitVersion, major, minor } = await kube.read<{ gitVersion: string; major: string; minor: string }>('/version')
    const ms = Math.round(performance.now() - began)
    if (Number(major) === 1 && Number.parseInt(minor, 10) < OLDEST_MINOR)
      return fail(`Kubernetes ${gitVersion} has no ValidatingAdmissionPolicy v1`, `Use Kubernetes 1.${OLDEST_MINOR} or newer.`)
    return ok(`Kubernetes ${gitVersion} at ${kube.server} answers in ${ms} ms`)
  } catch (thrown) {
    const failure = Failure.from(thrown)
    return fail(failure.message, remedyFor(failure))
  }
}

/** Whoever installs Berth makes these. */
const TO_INSTALL: readonly ResourceAttributes[] = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'create', namespace: '' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies', verb: 'create', namespace: '' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'create', namespace: '' },
]

/** Whoever uses it makes these, in the namespace in which they work. */
const TO_USE: readonly Omit<ResourceAttributes, 'namespace'>[] = [
  { group: 'appstudio.redhat.com', resource: 'deploymenttargetclaims', verb: 'create' },
  { group: 'managed-gitops.redhat.com', resource: 'gitopsdeployments', verb: 'create' },
  { group: 'berth.dev', resource: 'workspaces', verb: 'create' },
]

export const examinePermissions: Examination = async ({ kube, namespaceOfContext }) => {
  const refusedOf = async (needs: readonly ResourceAttributes[]): Promise<string> => {
    const answers = await Promise.all(needs.map((need) => isAllowedToUs(kube, need)))
    return needs.flatMap(({ verb, resource, group }, at) => (answers[at] ? [] : [`${verb} ${resource}.${group}`])).join(', ')
  }
  const install = await refusedOf(TO_INSTALL)
  const use = await refusedOf(TO_USE.map((need) => ({ ...need, namespace: namespaceOfContext })))
  if (!install && !use) return ok('you may install Berth and use it')
  return [
    ...(use
      ? [
          warn(
            `you may not use Berth in ${namespaceOfContext}: ${use}`,
            'Work in a namespace of yours, or ask for the role `edit` there.',
          ),
        ]
      : [ok(`you may use Berth in ${namespaceOfContext}`)]),
    ...(install
      ? [warn(`you may not install Berth: ${install}`, 'Ask an administrator for a role that allows it, if you need it.')]
      : []),
  ]
}
