import type { CoreEvent } from '../../../api/index.ts'
import type { Reason } from './causes.ts'
import { matchOf, type Patterns } from './finding.ts'

/** What runtimes and registries answer. That nobody answered comes before what an answer would say: host names hold all words. */
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

const CERTAIN: readonly Reason[] = ['InvalidImageName', 'ErrImageNeverPull']
const PULLING = ['ImagePullBackOff', 'ErrImagePull', 'ImageInspectError', 'RegistryUnavailable', 'SignatureValidationFailed']

/** What the kubelet's word for a waiting container means of its image; undefined where it is about something else. */
export function imageReason(word: string, said: string): Reason | undefined {
  const certain = CERTAIN.find((reason) => reason === word)
  if (certain) return certain
  if (!PULLING.includes(word)) return undefined
  if (word === 'SignatureValidationFailed' || /signature/i.test(said)) return 'ImageSignatureRefused'
  // Only what stands behind the name of the image: a name may hold any of the words that are looked for.
  return matchOf(PULLS, said.replace(/image "[^"]*"/g, '')) ?? 'ImagePullBackOff'
}

/** Older kubelets only say that they wait; the Event of the attempt says why it failed. (`Error: ErrImagePull` is one, too, and says nothing.) */
export const attemptOf = (events: readonly CoreEvent[]): CoreEvent | undefined =>
  events.find(({ reason, message = '' }) => reason === 'Failed' && /^Failed to pull/i.test(message))
