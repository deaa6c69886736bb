import type { CoreEvent } from '../../../api/index.ts'
import type { TroubleReason } from './causes.ts'
import { matchOf, type Patterns } from './symptom.ts'

/**
 * Answers of runtimes and registries. That nobody answered comes before the words of an answer: host names hold all words. A number is
 * the status of an answer only where clients write one: ports and sizes are numbers, too.
 */
const PULLS: Patterns = [
  [/toomanyrequests|too many requests|rate limit|(status|code|HTTP):? 429\b/i, 'ImagePullRateLimited'],
  [/no space left on device/i, 'NodeDiskFull'],
  [
    /no such host|i\/o timeout|connection re(fused|set)|no route to host|TLS handshake|x509|deadline exceeded|server misbehaving|HTTP response to HTTPS|: EOF|internal server error|bad gateway|service unavailable|gateway time-?out|(status|code|HTTP):? 50[0234]\b/i,
    'RegistryUnreachable',
  ],
  [/no match for platform|no matching manifest|exec format error/i, 'ImageWrongPlatform'],
  [
    /unauthorized|authentication required|authorization failed|access denied|denied:|insufficient_scope|forbidden|(status|code|registry|HTTP):? 40[13]\b/i,
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
  return matchOf(PULLS, said.replace(/image "[^"]*"|https?:\/\/[^\s"]*/g, '')) ?? 'ImagePullBackOff'
}

/** What the kubelet puts before the cause, by turns. */
const TURNS = [/^Back-off pulling image "[^"]*"(: )?/, /^Failed to pull image "[^"]*"(: )?/, /^ErrImagePull(: )?/]

/**
 * Why an image is not there, in words that stay the same while the cause does: the kubelet says by turns that it tries and that it
 * waits, and each attempt has a port of its own.
 */
export function pullCause(word: string, message: string, attempt: string): string | undefined {
  if (!BY_TURNS.includes(word)) return message && `${word}: ${message}`
  const causes = [message, attempt].map((text) => TURNS.reduce((rest, turn) => rest.replace(turn, ''), text))
  return (causes.find(Boolean) ?? message).replace(/:\d{1,5}->/g, '->')
}

const BY_TURNS = ['ImagePullBackOff', 'ErrImagePull']

/** Older kubelets only say that they wait; the Event of the attempt says why it failed. (`Error: ErrImagePull` is one, too, and says nothing.) */
export const attemptOf = (events: readonly CoreEvent[]): CoreEvent | undefined =>
  events.find(({ reason, message = '' }) => reason === 'Failed' && /^Failed to pull/i.test(message))
