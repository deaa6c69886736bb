import { type GitOpsDeployment, keyOf, type Ref } from '../../api/index.ts'

/** The GitOpsDeployments that have to be Ready before this one. */
export const dependenciesOf = ({ metadata, spec }: GitOpsDeployment): Ref[] =>
  (spec.dependsOn ?? []).map(({ namespace, name }) => ({ namespace: namespace || metadata.namespace, name }))

/** For an index: whose readiness it waits for. */
export const dependencyKeys = (deployment: GitOpsDeployment): string[] => dependenciesOf(deployment).map(keyOf)
