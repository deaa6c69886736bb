import { EDITOR } from '../desired/index.ts'
import { CLONER } from '../git/index.ts'
import { causeOf, type TroubleReason } from './causes.ts'
import { ADMIN } from './wait-limits.ts'

interface OwnContainer {
  /** Of its failure, where nothing more is known. */
  reason: TroubleReason
  /** Where its image is named. */
  image: string
}

/** Init containers that Berth adds to a pod: no devfile says anything of them. */
export const OURS: Readonly<Record<string, OwnContainer | undefined>> = {
  [CLONER]: { reason: 'CloneFailed', image: 'projectCloner.image of the class, or workspaceImage of the installation' },
  [EDITOR]: { reason: 'EditorNotBrought', image: 'editor.image of the class, or workspaceImage of the installation' },
}

const PULLED: readonly TroubleReason[] = ['ImagePullDenied', 'ImagePullBackOff']

/** What to do about a container of Berth's, where that of other containers is a matter of the devfile. */
export function ownRemedy(container: string, reason: TroubleReason): string | undefined {
  const own = OURS[container]
  if (!own || !causeOf(reason).remedy.includes('devfile')) return undefined
  if (reason === 'OutOfMemory') return `Have ${ADMIN} raise the memory that this container has by the class.`
  const secrets = PULLED.includes(reason) ? ', or add credentials for its registry to imagePullSecrets of the class' : ''
  const reach = reason === 'RegistryUnreachable' ? ', and see that the nodes can reach that registry' : ''
  return `Have ${ADMIN} correct the image in ${own.image}${secrets}${reach}; then berth restart --upgrade.`
}
