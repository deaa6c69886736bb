import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type Environment,
  Environments,
  type GitOpsDeploymentSet,
  GitOpsDeploymentSets,
  type GitProject,
  labels,
  ownedBy,
  type Preview,
  requesterOf,
  typeMetaOf,
} from '../../api/index.ts'
import { defined, isRecord } from '../../std/index.ts'
import type { PreviewEntry } from './plan.ts'

/** What all that is made for a Preview has in common. */
const metadataFor = (preview: Preview, name: string) => ({
  name,
  ...defined({ namespace: preview.metadata.namespace }),
  labels: { [labels.preview]: preview.metadata.name },
  ownerReferences: [ownedBy(preview)],
})

/** It is asked for by who named the class in the Preview: nobody gets by it what they may not claim. */
export const claimFor = (preview: Preview, { name }: PreviewEntry): DeploymentTargetClaim => ({
  ...typeMetaOf(DeploymentTargetClaims),
  metadata: { ...metadataFor(preview, name), annotations: { [annotations.requester]: requesterOf(preview) } },
  spec: {
    deploymentTargetClassName: preview.spec.deploymentTargetClassName,
    ...(preview.spec.resources && { resources: preview.spec.resources }),
  },
})

/** A display name has no more. */
const LONGEST = 256

export function environmentFor(preview: Preview, { name, branch }: PreviewEntry): Environment {
  const metadata = metadataFor(preview, name)
  return {
    ...typeMetaOf(Environments),
    metadata: { ...metadata, annotations: { [annotations.branch]: branch } },
    spec: {
      displayName: branch.slice(0, LONGEST),
      deploymentStrategy: 'AppStudioAutomated',
      tags: ['preview'],
      configuration: { target: { deploymentTargetClaim: { claimName: name } } },
    },
  }
}

/**
 * One GitOpsDeployment for each Environment of the Preview. It is the same whatever branches there are. What a person has written in the
 * places that belong to the branch gives way, so that no branch is deployed to another one's environment.
 */
export function setFor(preview: Preview, project: GitProject): GitOpsDeploymentSet {
  const { template } = preview.spec
  // Without a policy nobody waits for its objects when it is deleted: the namespace takes them along, and may be gone before.
  const { deletionPolicy: _, ...spec } = template.spec
  const { semver: __, follow: ___, ...source } = isRecord(template.spec.source) ? template.spec.source : {}
  return {
    ...typeMetaOf(GitOpsDeploymentSets),
    metadata: metadataFor(preview, preview.metadata.name),
    spec: {
      generators: [
        {
          environments: {
            labelSelector: `${labels.preview}=${preview.metadata.name}`,
            annotations: { branch: annotations.branch },
          },
        },
      ],
      template: {
        metadata: {
          ...template.metadata,
          name: '${environment}',
          labels: { ...template.metadata?.labels, [labels.preview]: preview.metadata.name },
        },
        spec: {
          type: 'automated',
          ...spec,
          source: {
            path: '.',
            ...source,
            repoURL: project.spec.url,
            project: `${project.metadata.namespace}/${project.metadata.name}`,
            targetRevision: 'refs/heads/${branch}',
          },
          destination: { environment: '${environment}' },
        },
      },
      removal: { policy: 'Delete', maxPercent: 100, allowEmpty: true },
    },
  }
}
