import { type Attributes, isAllowedToUs } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import { remedyFor } from '../local/cluster.ts'
import { type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

const OLDEST_MINOR = 30

/** Does the API answer, and is it new enough? Nothing else is examined when it does not. */
export const examineApi: Examination = async ({ kube }) => {
  const began = performance.now()
  try {
    const { gitVersion, major, minor } = await kube.read<{ gitVersion: string; major: string; minor: string }>('/version')
    const ms = Math.round(performance.now() - began)
    if (Number(major) === 1 && Number.parseInt(minor, 10) < OLDEST_MINOR) {
      return [fail(`Kubernetes ${gitVersion} has no ValidatingAdmissionPolicy v1`, `Use Kubernetes 1.${OLDEST_MINOR} or newer.`)]
    }
    return [ok(`Kubernetes ${gitVersion} at ${kube.server} answers in ${ms} ms`)]
  } catch (thrown) {
    const failure = Failure.from(thrown)
    return [fail(failure.message, remedyFor(failure))]
  }
}

/** What whoever asks may do: what is needed to install Berth, and what a developer needs. */
const NEEDED: readonly Attributes[] = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'create', namespace: '' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies', verb: 'create', namespace: '' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'create', namespace: '' },
  { group: 'appstudio.redhat.com', resource: 'deploymenttargetclaims', verb: 'create', namespace: 'default' },
  { group: 'managed-gitops.redhat.com', resource: 'gitopsdeployments', verb: 'create', namespace: 'default' },
  { group: 'berth.dev', resource: 'workspaces', verb: 'create', namespace: 'default' },
]

export const examinePermissions: Examination = async (context) => {
  const answers = await Promise.all(NEEDED.map((need) => isAllowedToUs(context.kube, need)))
  const refused = NEEDED.filter((_, at) => !answers[at])
  if (refused.length === 0) return [ok('you may install Berth and use it')]
  return refused.map(refusedFinding)
}

function refusedFinding({ group, resource, verb }: (typeof NEEDED)[number]): DoctorFinding {
  return warn(`you may not ${verb} ${resource}.${group}`, 'Ask an administrator for a role that allows it, if you need it.')
}
