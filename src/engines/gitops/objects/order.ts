/** Kinds that others need are applied first and deleted last. */
const FIRST = [
  'CustomResourceDefinition',
  'Namespace',
  'ClusterRole',
  'PriorityClass',
  'StorageClass',
  'IngressClass',
  'GatewayClass',
  'RuntimeClass',
  'ClusterRoleBinding',
  'ResourceQuota',
  'LimitRange',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'PersistentVolumeClaim',
  'Service',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
]
/** These may refuse everything else until what they call is up. */
const LAST = ['APIService', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

export function rankOf(kind: string): number {
  const first = FIRST.indexOf(kind)
  if (first >= 0) return first
  const last = LAST.indexOf(kind)
  return FIRST.length + 1 + last
}

/** Groups of the same rank, in the order in which they are applied. */
export function inOrder<T>(list: readonly T[], kindOf: (item: T) => string): T[][] {
  const groups = new Map<number, T[]>()
  for (const item of list) {
    const rank = rankOf(kindOf(item))
    const group = groups.get(rank)
    if (group) group.push(item)
    else groups.set(rank, [item])
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}
