import type { GitCredential } from '../../adapters/git/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import { annotations, labels, type Workspace, YES } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { Credentials } from '../ports.ts'
import type { Project } from '../project.ts'
import { readSecret } from '../read-secret.ts'

export interface SecretDesk {
  kube: Kube
  credentials: Pick<Credentials, 'forGit'>
}

/** The reason of failures that say: this pod does not get it. */
export const WITHHELD = 'CredentialWithheld'

/** The owner's own credential where the workspace names one, else that of the project. */
export async function credentialFor(
  { kube, credentials }: SecretDesk,
  { metadata, spec }: Workspace,
  project: Project,
): Promise<GitCredential | undefined> {
  const name = spec.git?.credentialsSecretRef?.name
  if (name === undefined) return (await credentials.forGit(project)).credential
  const ref = { name, namespace: metadata.namespace }
  const secret = await readSecret(kube, ref)
  const isOpen = secret?.metadata.labels?.[labels.gitCredentials] === YES
  // Who may create a Workspace must not get at what belongs to somebody else in the namespace.
  if (!isOpen || !spec.owner || secret.metadata.annotations?.[annotations.gitOwner] !== spec.owner)
    throw new Failure('forbidden', `there is no Secret ${name} whose Git credentials are ${spec.owner}'s`, {
      reason: WITHHELD,
      remedy: `Label it ${labels.gitCredentials}=${YES} and annotate it ${annotations.gitOwner}=${spec.owner}`,
    })
  return (await credentials.forGit({ ...project, credentials: ref })).credential
}
