import {
  annotations,
  apiVersionOf,
  type CoreSecret,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  type DeploymentTargetClass,
  DeploymentTargets,
  finalizers,
  KUBECONFIG_KEY,
  labels,
  Secrets,
  secretTypes,
} from '../../src/api/index.ts'
import { Failure } from '../../src/std/index.ts'
import type { Cluster } from './clusters.ts'

export const PROVISIONER = 'example.berth.dev/local-cluster'

const MOST_NODES = 100

/** The class's `numOfNodes`, or what is wrong with it. */
export function nodesOf({ metadata, spec }: DeploymentTargetClass): number {
  const nodes = spec.parameters?.numOfNodes ?? 1
  if (typeof nodes === 'number' && Number.isInteger(nodes) && nodes >= 1 && nodes <= MOST_NODES) return nodes
  throw new Failure('invalid', `DeploymentTargetClass ${metadata.name}: parameters.numOfNodes is ${JSON.stringify(nodes)}`, {
    reason: 'InvalidParameters',
    remedy: `Make a class that has a whole number from 1 to ${MOST_NODES}`,
  })
}

/** From the claim's name and UID: asked for twice, it is the same one. */
export function nameFor({ metadata }: DeploymentTargetClaim): string {
  return `${metadata.name.slice(0, 200)}-cluster-${metadata.uid?.slice(0, 8) ?? ''}`
}

export function secretFor(claim: DeploymentTargetClaim, cluster: Cluster): CoreSecret {
  return {
    apiVersion: apiVersionOf(Secrets),
    kind: Secrets.kind,
    metadata: {
      name: nameFor(claim),
      namespace: claim.metadata.namespace ?? '',
      labels: { [labels.claimUid]: claim.metadata.uid ?? '' },
    },
    type: secretTypes.opaque,
    data: dataOf(cluster),
  }
}

export const dataOf = ({ kubeconfig }: Cluster) => ({ [KUBECONFIG_KEY]: Buffer.from(kubeconfig.reveal()).toString('base64') })

/** All that the contract asks for, in one object: the claim and its UID, who made it, and the finalizer of who frees it. */
export function targetFor(claim: DeploymentTargetClaim, from: DeploymentTargetClass, { server }: Cluster): DeploymentTarget {
  const { name, namespace = '', uid = '' } = claim.metadata
  return {
    apiVersion: apiVersionOf(DeploymentTargets),
    kind: DeploymentTargets.kind,
    metadata: {
      name: nameFor(claim),
      namespace,
      labels: { [labels.claimUid]: uid },
      annotations: { [annotations.provisionedBy]: PROVISIONER, [annotations.reclaimPolicy]: from.spec.reclaimPolicy },
      finalizers: [finalizers.provisioner],
    },
    spec: {
      deploymentTargetClassName: from.metadata.name,
      claimRef: { name, uid },
      kubernetesCredentials: { defaultNamespace: 'default', apiURL: server, clusterCredentialsSecret: nameFor(claim) },
      ...(claim.spec.resources && { resources: claim.spec.resources }),
      ...(claim.spec.arch !== undefined && { arch: claim.spec.arch }),
    },
  }
}
