import { CLONER } from '../git/index.ts'
import type { TroubleReason } from './causes.ts'
import { matchOf, type Patterns } from './symptom.ts'

/** Answers of Git, SSH and kas. That nobody answered comes before the words of an answer. */
const CLONES: Patterns = [
  [/no space left on device|disk quota exceeded/i, 'CloneVolumeFull'],
  [/could not resolve|name or service not known/i, 'CloneHostNotFound'],
  [/host key verification failed|host key is known/i, 'CloneHostNotTrusted'],
  [/ssl certificate|certificate verif|self.signed certificate|unable to get local issuer/i, 'CloneHostNotTrusted'],
  [
    /timed? ?out|too slow|connection re(fused|set)|failed to connect|couldn't connect|no route to host|hung up|early EOF|error: (429|5\d\d)/i,
    'CloneHostSilent',
  ],
  [/remote ref|not our ref|unadvertised object|invalid refspec|begins with a dash/i, 'CloneRefNotFound'],
  [
    /authentication failed|could not read (username|password)|permission denied|access denied|no credentials for|error: 40[13]/i,
    'CloneDenied',
  ],
  [/not found|could not be found|error: 404|does not appear to be a git repository/i, 'CloneNotFound'],
]

/** Why the project could not be cloned, by the last words of the container that does it; undefined where that is not told. */
export function cloneReason(container: string, lastWords = ''): TroubleReason | undefined {
  if (container !== CLONER || !lastWords.startsWith('cannot clone ')) return undefined
  // Names of hosts, repositories and refs may hold any of the words that are looked for.
  const said = lastWords.replace(/^cannot clone \S+ /, '').replace(/^ref \S+ /, '')
  return matchOf(CLONES, said.replace(/'[^'\s]*'/g, ''))
}
