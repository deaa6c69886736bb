import { type SimpleGit, simpleGit } from 'simple-git'
import { Failure, minutes } from '../../std/index.ts'
import { authorizationOf, type Protocol, type Remote } from './remote.ts'

export interface GitSettings {
  /** Where `git` is looked for, and whatever it needs to reach the network (proxies). Nothing else is inherited. */
  environment: Readonly<Record<string, string>>
  /** A folder of our own: no user's configuration or credential helper has a say. */
  home: string
  protocols: readonly Protocol[]
  /** Longest silence of a git process, milliseconds. */
  patience?: number
}

export interface Run {
  folder: string
  remote?: Remote
  /** Bytes for standard input. */
  input?: string
  signal: AbortSignal
}

/** The credential is in the environment of the process only: never in its arguments, a URL, or a file. */
const CREDENTIAL = ['GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0'] as const
const GUARDED = ['GIT_TERMINAL_PROMPT', 'GIT_CONFIG_NOSYSTEM', 'GIT_ALLOW_PROTOCOL', 'GIT_OPTIONAL_LOCKS', ...CREDENTIAL]

/** One git process, confined: no prompt, no system configuration, no protocol but those allowed. */
export function git(settings: GitSettings, { folder, remote, input, signal }: Run): SimpleGit {
  const runner = simpleGit({
    baseDir: folder,
    abort: signal,
    timeout: { block: settings.patience ?? minutes(2) },
    allowEnvironment: GUARDED,
    unsafe: { allowUnsafeConfigEnvCount: true },
    // By itself simple-git takes a failure that prints nothing for a success.
    errors: (error, { exitCode, stdErr }) =>
      error ??
      (exitCode === 0 ? undefined : new Failure('internal', Buffer.concat(stdErr).toString() || `git ended with ${exitCode}`)),
    ...(input === undefined ? {} : { input: () => input }),
  })
  return runner.env({
    ...settings.environment,
    HOME: settings.home,
    XDG_CONFIG_HOME: settings.home,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: settings.protocols.join(':'),
    ...credentialOf(remote),
  })
}

/** Bound to the host of the URL, so that it is never sent elsewhere. */
function credentialOf(remote: Remote | undefined): Record<string, string> {
  if (!remote?.credential) return {}
  const { origin } = new URL(remote.url)
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: ${authorizationOf(remote.credential)}`,
  }
}

/**
 * `~/.gitconfig` of the confined git. Redirects are not followed: they are how a repository would make kas fetch from where
 * only kas can reach. A transfer that crawls for half a minute is given up.
 */
export const CONFIGURATION = `[core]
	hooksPath = /dev/null
	askPass =
[credential]
	helper =
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = 30
[fetch]
	recurseSubmodules = false
[gc]
	autoDetach = false
	pruneExpire = 1.hour.ago
[maintenance]
	autoDetach = false
`
