import { GitPluginError } from 'simple-git'
import { Failure, type FailureCode, isFailure } from '../../std/index.ts'
import { type Remote, redact } from './remote.ts'

interface Sign {
  says: RegExp
  code: FailureCode
  reason: string
  /** The message: the URL is put in front. */
  tells: string
  remedy: string
}

const LESS = { reason: 'AnswerTooLarge', remedy: 'Follow a repository with fewer refs and files, and smaller ones.' }

/** Words of git and curl, first match wins, so that what is special comes before what is general. */
const SIGNS: readonly Sign[] = [
  {
    // Nobody else ends it so: what is called off is interrupted.
    says: /died of signal 9/,
    code: 'too-large',
    ...LESS,
    tells: 'git took too much memory for it, and was ended',
  },
  {
    says: /returned error: 30\d|unable to update url base from redirection/,
    code: 'invalid',
    reason: 'RepositoryMoved',
    tells: 'the server answers with a redirect',
    remedy: 'Put the address it redirects to into spec.url.',
  },
  {
    says: /Host key verification failed/,
    code: 'unauthorized',
    reason: 'HostKeyUnknown',
    tells: 'the host shows another key than those in known_hosts',
    remedy: "Put the host's line of known_hosts, as the host publishes it, into the Secret that spec.credentialsSecretRef names.",
  },
  {
    says: /Load key "[^"\n]*":|Permission denied \((publickey|keyboard|password|gssapi|hostbased)/,
    code: 'unauthorized',
    reason: 'AuthenticationFailed',
    tells: 'the server did not accept the key',
    remedy: 'Give the key read access, and store it under ssh-privatekey as ssh-keygen writes it, without a passphrase.',
  },
  {
    says: /cannot run ssh|ssh: not found/,
    code: 'unavailable',
    reason: 'ProtocolNotAllowed',
    tells: 'kas has no ssh program',
    remedy: 'Use https, or install ssh beside kas.',
  },
  {
    says: /Authentication failed|could not read (Username|Password)|returned error: 401|terminal prompts disabled|HTTP Basic: Access denied/,
    code: 'unauthorized',
    reason: 'AuthenticationFailed',
    tells: 'the server did not accept the credentials, or wants some',
    remedy: 'Check the Secret that spec.credentialsSecretRef names.',
  },
  {
    says: /returned error: 403/,
    code: 'forbidden',
    reason: 'AuthenticationFailed',
    tells: 'the credentials may not read the repository',
    remedy: 'Give them read access, or name another Secret in spec.credentialsSecretRef.',
  },
  {
    says: /[rR]epository (\S+ )?not found|returned error: 404|does not appear to be a git repository|not valid: is this a git repository/,
    code: 'not-found',
    reason: 'RepositoryNotFound',
    tells: 'there is no such repository, or these credentials may not see it',
    remedy: 'Correct spec.url, or the credentials.',
  },
  {
    says: /transport '[^'\n]*' not allowed/,
    code: 'invalid',
    reason: 'ProtocolNotAllowed',
    tells: 'its protocol is not allowed here',
    remedy: 'Use https.',
  },
  {
    says: /not our ref|couldn't find remote ref|unadvertised object|no such remote ref/i,
    code: 'not-found',
    reason: 'RefNotFound',
    tells: 'the commit is not in the repository',
    remedy: 'Push it, or name one that is there.',
  },
  {
    says: /remote error:/,
    code: 'unavailable',
    reason: 'RepositoryRefused',
    tells: 'the server refuses it, with words of its own that are in the log of kas',
    remedy: 'Check spec.url, and what the host says of this repository.',
  },
  {
    says: /protocol error|bad line length|invalid (?:ls-refs response|index-pack output)|expected (?:flush|a delimiter|service)|unknown object format|not valid: |invalid server response/i,
    code: 'unavailable',
    reason: 'ProtocolError',
    tells: 'what answers there does not speak as a Git server does',
    remedy: 'Check spec.url: it is the URL that git clone takes.',
  },
  {
    says: /certificate|SSL|TLS/,
    code: 'unavailable',
    reason: 'CertificateInvalid',
    tells: 'its TLS certificate is not trusted',
    remedy: 'Serve a certificate of a known authority, or give kas the authority.',
  },
  {
    says: /No space left on device|Disk quota exceeded|File too large|Read-only file system|Permission denied|insufficient permission|unable to create temporary/,
    code: 'unavailable',
    reason: 'DataFolderUnwritable',
    tells: 'kas cannot write its copy of it',
    remedy: 'Give the data folder of kas room, and the right to write there.',
  },
  {
    says: /not a git repository|objects\/[0-9a-f]{2}\/[0-9a-f]{38,62} is empty|loose object|bad object|is corrupt|shallow file has changed|\.lock': File exists|unable to read tree|missing object|not a tree object|missing blob|Not a valid object name|Not a directory|index-pack failed|bad pack|\.pack (?:is far too short|cannot be mapped|does not match|is not)|\.idx is too small|non-monotonic index|wrong index|bad tree object/,
    code: 'internal',
    reason: 'MirrorDamaged',
    tells: 'the local copy was damaged and is thrown away',
    remedy: 'Nothing is to be done: the next try makes a new one.',
  },
  {
    says: /Could not resolve host|Failed to connect|Couldn't connect|Connection (refused|reset|timed out)|timed? ?out|unable to access|Empty reply|hung up|early EOF|RPC failed|Operation too slow/i,
    code: 'unavailable',
    reason: 'Unreachable',
    tells: 'the server does not answer',
    remedy: 'Check spec.url, and that kas can reach the host.',
  },
]

/** Characters of git's words that are looked at. */
const LONGEST = 4096

/** Git says last what went wrong, in lines that are short. Before that it repeats what the server says, which may be anything. */
function lastLines(text: string): string {
  const lines: string[] = []
  let left = LONGEST
  for (const line of text.trim().split('\n').reverse()) {
    if (line.length >= left) continue
    left -= line.length + 1
    lines.unshift(line)
  }
  return lines.join('\n')
}

/** A failure of git as one of ours. Its own words are kept, without secrets, as the cause. */
export function failureFromGit(thrown: unknown, remote: Remote): Failure {
  if (isFailure(thrown, 'too-large'))
    return new Failure('too-large', `${remote.url}: ${thrown.message}`, { ...LESS, cause: thrown })
  const said = redact(lastLines(thrown instanceof Error ? thrown.message : String(thrown)), remote)
  const cause = new Failure('internal', said)
  if (thrown instanceof GitPluginError && thrown.plugin === 'abort') return new Failure('cancelled', 'called off', { cause })
  if (thrown instanceof GitPluginError && thrown.plugin === 'timeout') return unreachable(remote, cause)
  const sign = SIGNS.find(({ says }) => says.test(said))
  if (!sign)
    return new Failure('unavailable', `${remote.url}: git failed, and why is only in the log of kas`, {
      reason: 'GitFailed',
      remedy: 'Check that git can clone it from elsewhere, and ask whoever runs Berth to look there.',
      cause,
    })
  const { code, reason, tells, remedy } = sign
  return new Failure(code, `${remote.url}: ${tells}`, { reason, remedy, cause })
}

/** A failure that the file system gave to us instead of to git. */
export function failureFromDisk(thrown: unknown, remote: Remote): Failure {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (!/^(ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EFBIG|EEXIST|ENOTDIR)$/.test(code)) return Failure.from(thrown)
  const said = /EEXIST|ENOTDIR/.test(code) ? 'Not a directory' : 'Permission denied'
  return failureFromGit(new Failure('internal', `${said}: ${code}`, { cause: thrown }), remote)
}

const unreachable = (remote: Remote, cause: Failure) =>
  new Failure('timeout', `${remote.url}: the server does not answer in time`, {
    reason: 'Unreachable',
    remedy: 'Check that the host answers.',
    cause,
  })
