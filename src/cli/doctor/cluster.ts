import { isAllowedToUs, type ResourceAttributes } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import { remedyFor } from '../local/cluster.ts'
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

/** The permissions that are needed to install Berth, and those that a developer needs. */
const NEEDED: readonly ResourceAttributes[] = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'create', namespace: '' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies', verb: 'create', namespace: '' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'create', namespace: '' },
  { group: 'appstudio.redhat.com', resource: 'deploymenttargetclaims', verb: 'create', namespace: 'default' },
  { group: 'managed-gitops.redhat.com', resource: 'gitopsdeployments', verb: 'create', namespace: 'default' },
  { group: 'berth.dev', resource: 'workspaces', verb: 'create', namespace: 'default' },
]

export const examinePermissions: Examination = async ({ kube }) => {
  const answers = await Promise.all(NEEDED.map((need) => isAllowedToUs(kube, need)))
  const refused = NEEDED.filter((_, at) => !answers[at])
  if (refused.length === 0) return ok('you may install Berth and use it')
  return refused.map(({ group, resource, verb }) =>
    warn(`you may not ${verb} ${resource}.${group}`, 'Ask an administrator for a role that allows it, if you need it.'),
  )
}
