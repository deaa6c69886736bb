import { keyOf } from '../../api/index.ts'
import { type Clock, isFailure, type Log, LRUCache, Secret, seconds } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'

const KEPT = seconds(10)
/** Nobody makes it remember more. */
const MOST = 10_000

export type WebhookSecrets = ReturnType<typeof rememberSecrets>

/** The secrets of webhooks, remembered for a moment: whoever floods kas with wrong proofs has no Secret read for each. */
export function rememberSecrets(credentials: Pick<Credentials, 'forWebhooks'>, clock: Clock, log: Log) {
  const known = new LRUCache<string, { at: number; secret: Promise<Secret<string> | undefined> }>({ max: MOST })
  const keyFor = ({ uid, webhookSecret }: Project) => `${uid} ${webhookSecret ? keyOf(webhookSecret) : ''}`
  const ask = async (project: Project): Promise<Secret<string> | undefined> => {
    try {
      return new Secret(await credentials.forWebhooks(project))
    } catch (thrown) {
      if (!isFailure(thrown, 'invalid')) throw thrown
      log.warn('A webhook could not be checked', { project: keyOf(project.ref), error: thrown })
      return undefined
    }
  }
  return {
    /** As it was a moment ago; `undefined` when it must be read. */
    remembered(project: Project) {
      const entry = known.get(keyFor(project))
      return entry && clock.now() - entry.at < KEPT ? entry.secret : undefined
    },
    /** As it is now; no secret where the Secret is of no use. */
    read(project: Project) {
      const key = keyFor(project)
      const entry = { at: clock.now(), secret: ask(project) }
      known.set(key, entry)
      // What could not be asked is not known.
      entry.secret.catch(() => known.get(key) === entry && known.delete(key))
      return entry.secret
    },
  }
}
