/** Fields of the spec of a GitOpsDeployment that are no texts, without the places of lists. A test compares them with crds/. */
export const TYPED_FIELDS: readonly string[] = [
  'source.helm.valuesFrom.optional',
  'source.helm.skipCrds',
  'prune',
  'suspend',
  'force',
  'variables.from.optional',
  'variables.strict',
  'pruneGuard.maxObjects',
  'pruneGuard.maxPercent',
  'pruneGuard.allowEmpty',
]

/** Fields in which there may be anything. */
export const UNTYPED_FIELDS: readonly string[] = ['source.helm.values']

/** Whether what a variable puts there takes the type that it has in YAML. */
export function isTyped(path: readonly string[]): boolean {
  const field = path.join('.')
  return TYPED_FIELDS.includes(field) || UNTYPED_FIELDS.some((any) => field === any || field.startsWith(`${any}.`))
}
