import type { CoreEvent } from '../../../api/index.ts'
import type { TroubleReason } from './causes.ts'
import { matchOf, type Patterns } from './symptom.ts'

/** Answers of runtimes and registries. That nobody answered comes before the words of an answer: host names hold all words. */
const PULLS: Patterns = [
  [/toomanyrequests|too many requests|429|rate limit/i, 'ImagePullRateLimited'],
  [/no space left on device/i, 'NodeDiskFull'],
  [
    /no such host|i\/o timeout|connection re(fused|set)|no route to host|TLS handshake|x509|deadline exceeded|server misbehaving|HTTP response to HTTPS|: EOF|50[0234] /i,
    'RegistryUnreachable',
  ],
  [/no match for platform|no matching manifest|exec format error/i, 'ImageWrongPlatform'],
  [
    /unauthorized|authentication required|authorization failed|access denied|denied:|insufficient_scope|40[13] /i,
    'ImagePullDenied',
  ],
  [/not ?found|manifest unknown|name unknown|does not exist/i, 'ImageNotFound'],
]

const CERTAIN: readonly TroubleReason[] = ['InvalidImageName', 'ErrImageNeverPull']
const PULLING = ['ImagePullBackOff', 'ErrImagePull', 'ImageInspectError', 'RegistryUnavailable', 'SignatureValidationFailed']

/** The reason that the kubelet's word for a waiting container gives for its image; undefined where it is about something else. */
export function imageReason(word: string, said: string): TroubleReason | undefined {
  const certain = CERTAIN.find((reason) => reason === word)
  if (certain) return certain
  if (!PULLING.includes(word)) return undefined
  if (word === 'SignatureValidationFailed' || /signature/i.test(said)) return 'ImageSignatureRefused'
  // Only the words behind the name of the image count: a name may hold any of the words that are looked for.
  return matchOf(PULLS, said.replace(/image "[^"]*"/g, '')) ?? 'ImagePullBackOff'
}

/** Older kubelets only say that they wait; the Event of the attempt says why it failed. (`Error: ErrImagePull` is one, too, and says nothing.) */
export const attemptOf = (events: readonly CoreEvent[]): CoreEvent | undefined =>
  events.find(({ reason, message = '' }) => reason === 'Failed' && /^Failed to pull/i.test(message))
