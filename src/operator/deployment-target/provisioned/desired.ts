import {
  AGENT_PROVISIONER,
  annotations,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargets,
  finalizers,
  isPrivate,
  keyOf,
  labels,
  MANAGED_BY_BERTH,
  refOf,
  SANDBOX_PROVISIONER,
  type SpaceRequest,
  typeMetaOf,
} from '../../../api/index.ts'

/** The namespace to which a request that is ready gives access. */
export interface Access {
  apiURL: string
  namespace: string
  secret: string
  insecureSkipTLSVerify: boolean
}

const LONGEST = 253

const provisionerOf = ({ metadata }: SpaceRequest): string =>
  metadata.annotations?.[annotations.agent] === undefined ? SANDBOX_PROVISIONER : AGENT_PROVISIONER

/** Names for the target, best first: `<claim>-dt` may be taken by one that has nothing to do with the claim. */
export function targetNames({ metadata }: DeploymentTargetClaim): string[] {
  const stem = metadata.name.slice(0, LONGEST - 24)
  const digits = (metadata.uid ?? '').replaceAll('-', '')
  return [`${stem}-dt`, `${stem}-dt-${digits.slice(0, 5)}`, `${stem}-dt-${digits.slice(0, 20)}`]
}

/** Everything in one object, finalizers too: whatever interrupts us, the target is either not there or complete. */
export function targetOf(name: string, claim: DeploymentTargetClaim, request: SpaceRequest, access: Access): DeploymentTarget {
  const { spec, metadata } = claim
  const policy = request.metadata.annotations?.[annotations.reclaimPolicy]
  const resources = request.spec.resources ?? spec.resources
  return {
    ...typeMetaOf(DeploymentTargets),
    metadata: {
      name,
      namespace: metadata.namespace ?? '',
      labels: {
        ...classLabel(spec.deploymentTargetClassName),
        [labels.claimUid]: metadata.uid ?? '',
        [labels.managedBy]: MANAGED_BY_BERTH,
      },
      annotations: {
        [annotations.provisionedBy]: provisionerOf(request),
        [annotations.spaceRequest]: keyOf(refOf(request)),
        ...(policy !== undefined && { [annotations.reclaimPolicy]: policy }),
        ...(isPrivate(request) && { [annotations.privateTo]: '' }),
      },
      finalizers: [finalizers.target, finalizers.provisioner],
    },
    spec: {
      deploymentTargetClassName: spec.deploymentTargetClassName,
      claimRef: { name: metadata.name, uid: metadata.uid ?? '' },
      kubernetesCredentials: credentialsFor(access),
      ...(resources && { resources }),
      ...(spec.arch !== undefined && { arch: spec.arch }),
    },
  }
}

export const credentialsFor = (access: Access) => ({
  defaultNamespace: access.namespace,
  apiURL: access.apiURL,
  clusterCredentialsSecret: access.secret,
  allowInsecureSkipTLSVerify: access.insecureSkipTLSVerify,
})

/** The label that upstream gives to targets: the class. A name that is no label value is left out; the spec has it anyway. */
const classLabel = (name: string): Record<string, string> =>
  name.length <= 63 && name !== '' ? { [annotations.provisioner]: name } : {}
