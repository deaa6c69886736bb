import { isAllowedToUs, type ResourceAttributes } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import { remedyFor } from '../local/answer.ts'
import { type Examination, type Finding, fail, ok, warn } from './finding.ts'

const OLDEST_MINOR = 30

/** Does the API answer, and is it new enough? Nothing else is examined when it does not. */
export const examineApi: Examination = async ({ kube }) => {
  const began = performance.now()
  try {
    const { gitVersion, major, minor } = await kube.read<{ gitVersion: string; major: string; minor: string }>('/version')
    const ms = Math.round(performance.now() - began)
    if (Number(major) === 1 && Number.parseInt(minor, 10) < OLDEST_MINOR) {
      return [
        fail('api', `Kubernetes ${gitVersion} has no ValidatingAdmissionPolicy v1`, `Use Kubernetes 1.${OLDEST_MINOR} or newer.`),
      ]
    }
    return [ok('api', `Kubernetes ${gitVersion} at ${kube.server} answers in ${ms} ms`)]
  } catch (thrown) {
    const failure = Failure.from(thrown)
    return [fail('api', failure.message, remedyFor(failure))]
  }
}

/** What whoever asks may do: what is needed to install Berth, and what a developer needs. */
const NEEDED: readonly ResourceAttributes[] = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'create', namespace: '' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies', verb: 'create', namespace: '' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'create', namespace: '' },
  { group: 'appstudio.redhat.com', resource: 'deploymenttargetclaims', verb: 'create', namespace: 'default' },
  { group: 'managed-gitops.redhat.com', resource: 'gitopsdeployments', verb: 'create', namespace: 'default' },
  { group: 'berth.dev', resource: 'workspaces', verb: 'create', namespace: 'default' },
]

export const examinePermissions: Examination = async (patient) => {
  const answers = await Promise.all(NEEDED.map((need) => isAllowedToUs(patient.kube, need)))
  const refused = NEEDED.filter((_, at) => !answers[at])
  if (refused.length === 0) return [ok('permissions', 'you may install Berth and use it')]
  return refused.map(refusedFinding)
}

function refusedFinding({ group, resource, verb }: (typeof NEEDED)[number]): Finding {
  return warn(
    'permissions',
    `you may not ${verb} ${resource}.${group}`,
    'Ask an administrator for a role that allows it, if you need it.',
  )
}
