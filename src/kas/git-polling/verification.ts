import { type Mirror, MOST_BETWEEN } from '../../adapters/git/index.ts'
import type { Keyring } from '../../adapters/signatures/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Clock, Failure, isFailure, minutes } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'

/** A commit that is served, as the status of its project has it. */
export interface SeenCommit {
  readonly commit: string
  readonly signer?: string | undefined
}

/** The commit of that ref that was found last, by whichever kas; `undefined` where there is none. */
export type LastSeen = (project: Ref, refName: string) => SeenCommit | undefined

export interface Located {
  commit: string
  refName: string | undefined
}

/** What is to be served: the commit that was found, or, where it is `refused`, the one before. */
export interface Verified extends Located {
  signer: string
  refused?: Failure
}

export interface VerificationOptions {
  project: Project
  credentials: Pick<Credentials, 'forCommits'>
  lastSeen: LastSeen
  clock: Clock
}

/** Looks at the signature of what a poll has found. Throws why it is refused, where there is nothing to serve in its place. */
export type Verify = (found: Located, mirror: Mirror, signal: AbortSignal) => Promise<Verified>

/** A refusal is looked at again after so long: keys begin and end to be valid. */
const REMEMBERED = minutes(10)

/**
 * Each commit is looked at once, and is served from then on whatever becomes of the key: what is in effect is not taken away by a key
 * that is. That counts after a restart as well, by the signer in the status of the project.
 */
export function createVerification({ project, credentials, lastSeen, clock }: VerificationOptions): Verify {
  let good: (SeenCommit & Located & { signer: string }) | undefined
  let bad: { commit: string; version: string; failure: Failure; until: number } | undefined
  const readKeys = createKeyReader(project, credentials)

  const decide = async (found: Located, before: SeenCommit | undefined, mirror: Mirror, signal: AbortSignal): Promise<string> => {
    const keys = await readKeys()
    if (bad?.commit === found.commit && bad.version === keys.version && clock.now() < bad.until) throw bad.failure
    try {
      return await signerOf({ found, before, mirror, keys, project, now: clock.now() }, signal)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (isRefusal(failure)) bad = { commit: found.commit, version: keys.version, failure, until: clock.now() + REMEMBERED }
      throw failure
    }
  }

  return async (found, mirror, signal) => {
    const { commit, refName } = found
    const seen = refName === undefined ? undefined : lastSeen(project.ref, refName)
    const before = good?.refName === refName ? good : seen
    if (before?.commit === commit && before.signer !== undefined) {
      good = { ...found, signer: before.signer }
      return good
    }
    try {
      good = { ...found, signer: await decide(found, before, mirror, signal) }
      return good
    } catch (thrown) {
      const refused = Failure.from(thrown)
      const isServed = before?.signer !== undefined && (isRefusal(refused) || refused.code === 'invalid')
      if (!isServed || !(await isHere(before.commit, mirror, signal))) throw refused
      return { commit: before.commit, refName, signer: before.signer, refused }
    }
  }
}

const isRefusal = ({ reason = '' }: Failure): boolean => reason.startsWith('Commit')

/** A commit that no ref leads to any more may be gone from the server. */
async function isHere(commit: string, mirror: Mirror, signal: AbortSignal): Promise<boolean> {
  try {
    await mirror.fetch(commit, signal)
    return true
  } catch (thrown) {
    if (isFailure(thrown, 'cancelled')) throw thrown
    return false
  }
}

interface Keys {
  keyring: Keyring
  version: string
  /** Where they are, for those who read why a commit is refused. */
  secret: string
}

/** Reads the Secret each time, and the keys in it when it has changed. */
function createKeyReader(project: Project, credentials: Pick<Credentials, 'forCommits'>): () => Promise<Keys> {
  let last: Keys | undefined
  return async () => {
    const { files, version, secret } = await credentials.forCommits(project)
    if (last?.version === version) return last
    const { readKeyring } = await import('../../adapters/signatures/index.ts')
    try {
      last = { keyring: await readKeyring(files), version, secret }
      return last
    } catch (thrown) {
      throw new Failure('invalid', `Secret ${secret}: ${Failure.from(thrown).message}`, {
        object: `GitProject ${keyOf(project.ref)}`,
        reason: 'SecretInvalid',
        remedy: 'Put public keys into it: allowed_signers or *.pub for keys of SSH, *.asc for those of PGP.',
        cause: thrown,
      })
    }
  }
}

interface Question {
  found: Located
  before: SeenCommit | undefined
  mirror: Mirror
  keys: Keys
  project: Project
  /** Milliseconds since 1970. */
  now: number
}

/** So many are looked at before others have their turn. */
const AT_ONCE = 50

async function signerOf(question: Question, signal: AbortSignal): Promise<string> {
  const { found, mirror, project } = question
  await mirror.fetch(found.commit, signal)
  const signer = await signerIn(question, mirror, [found.commit], signal)
  if (project.verify?.mode === 'EveryCommit') await requireAll(question, signal)
  return signer
}

/** All that lead from the commit that was served to the new one. The first of all has none before it. */
async function requireAll(question: Question, signal: AbortSignal): Promise<void> {
  const { found, before, mirror } = question
  if (!before || before.commit === found.commit) return
  const history = mirror.history()
  const all = await history.between(before.commit, found.commit, signal).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'not-found')) throw thrown
    const what = `the commits since ${before.commit} cannot be told: it was served last, and is no longer in the repository`
    throw refusal('CommitHistoryUnknown', question, `${found.commit}: ${what}`, ONCE, thrown)
  })
  if (all.length > MOST_BETWEEN)
    throw refusal(
      'CommitHistoryTooLong',
      question,
      `${found.commit}: more than ${MOST_BETWEEN} commits lead to it from ${before.commit}, which was served last`,
      ONCE,
    )
  // The oldest of those that are refused is named: what comes after it has to be written anew as well.
  const others = all.filter((commit) => commit !== found.commit).reverse()
  for (let at = 0; at < others.length; at += AT_ONCE) await signerIn(question, history, others.slice(at, at + AT_ONCE), signal)
}

const ONCE = 'Look at them yourself, set spec.verify.mode to HEAD until this one is served, and then back to EveryCommit.'

/** Who signed the last of them. Throws for the first that is refused. */
async function signerIn(question: Question, from: Mirror, commits: readonly string[], signal: AbortSignal): Promise<string> {
  const { judge } = await import('../../adapters/signatures/index.ts')
  let signer = ''
  const raws = await from.commits(commits, signal).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'too-large')) throw thrown
    const what = `${commits[0]} is too long to be verified, or is with those after it: ${thrown.message}`
    throw refusal('CommitSignatureInvalid', question, what, 'Write it anew with a shorter message.', thrown)
  })
  for (const [at, raw] of raws.entries()) {
    const id = commits[at] ?? ''
    const verdict = await judge({ id, raw }, question.keys.keyring, question.now)
    if ('signer' in verdict) signer = verdict.signer
    else
      throw refusal(
        verdict.reason,
        question,
        `${id} ${verdict.why}${comingWith(id, question)}`,
        REMEDIES[verdict.reason](question.keys.secret),
      )
  }
  return signer
}

const comingWith = (id: string, { found }: Question): string => (id === found.commit ? '' : `, and comes with ${found.commit}`)

const REMEDIES = {
  CommitNotSigned: (secret: string) =>
    `Sign it (git commit --amend --no-edit -S, or git rebase with it) with a key that Secret ${secret} has, and push it.`,
  CommitSignatureInvalid: (secret: string) => `Sign it anew with a key that Secret ${secret} has, and push it.`,
  CommitSignerNotAllowed: (secret: string) =>
    `Sign it with a key that Secret ${secret} has, or, if this one may sign, put its public half there.`,
}

function refusal(reason: string, { found, project }: Question, what: string, remedy: string, cause?: unknown): Failure {
  const way = found.refName === undefined ? '' : ` (${found.refName})`
  const message = `commit ${what}${way}`
  return new Failure('invalid', message, { object: `GitProject ${keyOf(project.ref)}`, reason, remedy, cause })
}
