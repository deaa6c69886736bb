import { DOWN, deployment, type Row, refused } from './objects.ts'

const FORBIDDEN = 'pods "workspace-web-7d4b9c6f5-x2x9p" is forbidden: '

/** What the API server says to a pod that it does not take. */
export const ADMISSION: Row[] = [
  {
    why: 'quota: over it, at once, with the numbers',
    given: {
      deployment: refused(
        `${FORBIDDEN}exceeded quota: compute, requested: requests.memory=4Gi, used: requests.memory=30Gi, limited: requests.memory=32Gi`,
      ),
    },
    state: 'Failed',
    reason: 'QuotaExceeded',
    step: 'Admission',
    says: /^Deployment workspace-web is over the quota .*requested: requests.memory=4Gi/,
  },
  {
    why: 'quota: one that asks for what the pod does not say',
    given: { deployment: refused(`${FORBIDDEN}failed quota: compute: must specify limits.cpu for: tools`) },
    state: 'Failed',
    reason: 'QuotaNeedsResources',
    step: 'Admission',
  },
  {
    why: 'limits: more than the LimitRange allows',
    given: { deployment: refused(`${FORBIDDEN}maximum memory usage per Container is 2Gi, but limit is 4Gi`) },
    state: 'Failed',
    reason: 'LimitRangeViolated',
    step: 'Admission',
  },
  {
    why: 'limits: less than the LimitRange allows',
    given: { deployment: refused(`${FORBIDDEN}minimum cpu usage per Pod is 100m, but request is 10m`) },
    state: 'Failed',
    reason: 'LimitRangeViolated',
    step: 'Admission',
  },
  {
    why: 'policy: the Pod Security Standard',
    given: {
      deployment: refused(
        `${FORBIDDEN}violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "tools" must set securityContext.allowPrivilegeEscalation=false)`,
      ),
    },
    state: 'Failed',
    reason: 'PodSecurityViolated',
    step: 'Admission',
  },
  {
    why: 'policy: a webhook that says no',
    given: {
      deployment: refused(
        'admission webhook "validate.kyverno.svc" denied the request: images must come from registry.example.com',
      ),
    },
    state: 'Failed',
    reason: 'PolicyDenied',
    step: 'Admission',
  },
  {
    why: 'policy: a ValidatingAdmissionPolicy that says no',
    given: { deployment: refused(`${FORBIDDEN}ValidatingAdmissionPolicy 'images' with binding 'images' denied request: no`) },
    state: 'Failed',
    reason: 'PolicyDenied',
    step: 'Admission',
  },
  {
    why: 'policy: a security context constraint',
    given: { deployment: refused(`${FORBIDDEN}unable to validate against any security context constraint: []`) },
    state: 'Failed',
    reason: 'PolicyDenied',
    step: 'Admission',
  },
  {
    why: 'webhook: one that does not answer is waited for',
    given: {
      deployment: refused(
        'Internal error occurred: failed calling webhook "mutate.istio.io": Post "https://istiod.istio-system.svc:443/inject": dial tcp 10.0.0.9:443: connect: connection refused',
      ),
    },
    state: 'Starting',
    reason: 'WebhookUnavailable',
    step: 'Admission',
    until: 60,
  },
  {
    why: 'companions: a ServiceAccount that is late is waited for',
    given: {
      deployment: deployment({
        progress: 'NewReplicaSetCreated',
        available: DOWN,
        wanted: 1,
        refused: `${FORBIDDEN}error looking up service account team-a/workspace-web: serviceaccount "workspace-web" not found`,
      }),
    },
    state: 'Failed',
    reason: 'ServiceAccountMissing',
    step: 'Admission',
    says: /waited 1 minute/,
  },
  {
    why: 'class: a RuntimeClass that is not there',
    given: { deployment: refused(`${FORBIDDEN}pod rejected: RuntimeClass "kata" not found`) },
    state: 'Failed',
    reason: 'RuntimeClassMissing',
    step: 'Admission',
  },
  {
    why: 'class: a PriorityClass that is not there',
    given: { deployment: refused(`${FORBIDDEN}no PriorityClass with name workspaces was found`) },
    state: 'Failed',
    reason: 'PriorityClassMissing',
    step: 'Admission',
  },
  {
    why: 'namespace: one that is being deleted takes no pods',
    given: { deployment: refused(`${FORBIDDEN}unable to create new content in namespace team-a because it is being terminated`) },
    state: 'Failed',
    reason: 'NamespaceTerminating',
    step: 'Admission',
  },
  {
    why: 'pod: one that is not valid',
    given: {
      deployment: refused(
        'Pod "workspace-web-7d4b9c6f5-x2x9p" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ),
    },
    state: 'Failed',
    reason: 'PodInvalid',
    step: 'Admission',
  },
  {
    why: 'pod: refused for a reason that nobody knows',
    given: { deployment: refused('no') },
    state: 'Failed',
    reason: 'PodRefused',
    step: 'Admission',
  },
]
