import { setImmediate as breathe } from 'node:timers/promises'
import { type Mirror, MOST_BETWEEN, pickRef, type Revision } from '../../adapters/git/index.ts'
import type { Keyring } from '../../adapters/signatures/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Clock, Failure, isFailure, minutes } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'

/** A commit that was served, as the status of its project has it. */
export interface SeenRef {
  /** Full name of the ref. */
  readonly name: string
  readonly commit: string
  readonly signer?: string | undefined
}

/** The commits that were found last of a project, by whichever kas. */
export type LastSeen = (project: Ref) => readonly SeenRef[]

export interface Located {
  commit: string
  refName: string | undefined
}

interface Signed extends Located {
  signer: string
}

/** What is to be served: the commit that was found, or, where it is `refused`, the one before. */
export interface Verified extends Signed {
  refused?: Failure
}

export interface VerificationOptions {
  project: Project
  revision: Revision
  credentials: Pick<Credentials, 'forCommits'>
  lastSeen: LastSeen
  clock: Clock
}

export interface Verification {
  /** Looks at the signature of what a poll has found. Throws why it is refused, where there is nothing to serve in its place. */
  verify(found: Located, mirror: Mirror, signal: AbortSignal): Promise<Verified>
  /** What was refused is looked at anew. */
  forget(): void
}

/** A refusal is looked at again after so long: keys begin and end to be valid. */
const REMEMBERED = minutes(10)

/**
 * Each commit is looked at once, and is served from then on whatever becomes of the key: what is in effect is not taken away by a key
 * that is. That counts after a restart as well, by the signer in the status of the project.
 */
export function createVerification({ project, revision, credentials, lastSeen, clock }: VerificationOptions): Verification {
  let good: Signed | undefined
  let bad: { what: string; failure: Failure; until: number } | undefined
  const readKeys = createKeyReader(project, credentials)

  const decide = async (found: Located, before: Signed | undefined, mirror: Mirror, signal: AbortSignal): Promise<string> => {
    const keys = await readKeys()
    const what = JSON.stringify([found, before?.commit, keys.version])
    if (bad?.what === what && clock.now() < bad.until) throw bad.failure
    try {
      return await signerOf({ found, before, mirror, keys, project, now: clock.now() }, signal)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (isRefusal(failure) && failure.reason !== 'CommitHistoryUnknown')
        bad = { what, failure, until: clock.now() + REMEMBERED }
      throw failure
    }
  }

  return {
    async verify(found, mirror, signal) {
      const seen = lastSeen(project.ref).flatMap(signedIn)
      // The same ref may have been served to those who follow it by another of its names.
      const known = [good, ...seen].find((one) => one?.commit === found.commit && one.refName === found.refName)
      const before = known ?? good ?? (await lastOf(revision, found, seen))
      try {
        good = known ?? { ...found, signer: await decide(found, before, mirror, signal) }
        return good
      } catch (thrown) {
        const refused = Failure.from(thrown)
        const isServed = before && (isRefusal(refused) || refused.code === 'invalid')
        if (!isServed || !(await isHere(before.commit, mirror, signal))) throw refused
        return { ...before, refused }
      }
    },
    forget() {
      bad = undefined
    },
  }
}

const signedIn = ({ name, commit, signer }: SeenRef): Signed[] =>
  signer === undefined ? [] : [{ refName: name, commit, signer }]

/**
 * What was served last of all that the revision can mean: of a range of versions that is another tag each time. Which branch the
 * default was nobody wrote down.
 */
async function lastOf(revision: Revision, found: Located, seen: readonly Signed[]): Promise<Signed | undefined> {
  const same = seen.find(({ refName }) => refName === found.refName)
  if (same || revision.kind === 'default') return same
  const commits = new Map(seen.map(({ refName = '', commit }) => [refName, commit]))
  const picked = await pickRef(revision, { commits, links: new Map() })
  return seen.find(({ refName }) => refName === picked?.name)
}

const isRefusal = ({ reason = '' }: Failure): boolean => reason.startsWith('Commit')

/** A commit that no ref leads to any more may be gone from the server. */
async function isHere(commit: string, mirror: Mirror, signal: AbortSignal): Promise<boolean> {
  try {
    await mirror.fetch(commit, signal)
    return true
  } catch (thrown) {
    if (!isFailure(thrown, 'not-found')) throw thrown
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
  let last: { version: string; read: Promise<Keyring> } | undefined
  return async () => {
    const { files, version, secret } = await credentials.forCommits(project)
    const { readKeyring } = await import('../../adapters/signatures/index.ts')
    // Those that cannot be read are not tried again either.
    if (last?.version !== version) last = { version, read: readKeyring(files) }
    try {
      return { keyring: await last.read, version, secret }
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
  before: Signed | undefined
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
    const why =
      thrown.reason === 'HistoryCut' ? 'the repository does not have all that leads' : 'it is no longer in the repository'
    const what = `the commits since ${before.commit}, which was served last, cannot be told: ${why}`
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
    await breathe()
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
