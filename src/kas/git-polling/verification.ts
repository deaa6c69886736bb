import { setImmediate as breathe } from 'node:timers/promises'
import { type Mirror, MOST_BETWEEN, type Revision } from '../../adapters/git/index.ts'
import type { Keyring } from '../../adapters/signatures/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type LRUCache, minutes } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'

export interface Located {
  commit: string
  refName: string | undefined
}

export interface Signed extends Located {
  signer: string
}

/** What of a revision was served last to whoever follows it, by whichever kas; `undefined` where nothing was. */
export type LastServed = (project: Ref, revision: Revision) => Signed | undefined

/** What is to be served: the commit that was found, or, where it is `refused`, the one before. */
export interface Verified extends Signed {
  refused?: Failure
}

export interface VerificationOptions {
  project: Project
  revision: Revision
  credentials: Pick<Credentials, 'forCommits'>
  lastServed: LastServed
  keyrings: Keyrings
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
export function createVerification({
  project,
  revision,
  credentials,
  lastServed,
  keyrings,
  clock,
}: VerificationOptions): Verification {
  let good: Signed | undefined
  /** The status has had it, so that another commit there is newer: another kas has seen more. */
  let isTold = false
  let bad: { what: string; failure: Failure; until: number; isAlone?: boolean } | undefined
  const readKeys = createKeyReader(project, credentials, keyrings)

  const decide = async (found: Located, before: Signed | undefined, mirror: Mirror, signal: AbortSignal): Promise<string> => {
    const keys = await readKeys()
    const what = JSON.stringify([found, before?.commit, keys.version])
    if (bad?.what === what && clock.now() < bad.until) throw bad.failure
    try {
      return await signerOf({ found, before, mirror, keys, project, now: clock.now() }, signal)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (isRefusal(failure)) bad = { what, failure, until: clock.now() + REMEMBERED }
      throw failure
    }
  }

  return {
    async verify(found, mirror, signal) {
      const told = lastServed(project.ref, revision)
      if (good && told && isSameCommit(good, told)) isTold = true
      const before = isTold ? (told ?? good) : (good ?? told)
      const isSame = before !== undefined && isSameCommit(before, found)
      try {
        const now = isSame ? before : { ...found, signer: await decide(found, before, mirror, signal) }
        if (!good || !isSameCommit(good, now)) isTold = false
        good = now
        return good
      } catch (thrown) {
        const refused = Failure.from(thrown)
        const isKnown = bad?.failure === refused && bad.isAlone
        if (!before || isKnown || !(isRefusal(refused) || refused.code === 'invalid')) throw refused
        if (await isHere(before.commit, mirror, signal)) return { ...before, refused }
        if (bad?.failure === refused) bad.isAlone = true
        throw refused
      }
    },
    forget() {
      bad = undefined
    },
  }
}

const isSameCommit = (one: Located, other: Located): boolean => one.commit === other.commit && one.refName === other.refName

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

/** Those that were read last, by Secret and its version: all polls of a project have the same, and it may take a while to read them. */
export type Keyrings = LRUCache<string, Promise<Keyring>>

/** Reads the Secret each time, and the keys in it when it has changed. */
function createKeyReader(
  project: Project,
  credentials: Pick<Credentials, 'forCommits'>,
  keyrings: Keyrings,
): () => Promise<Keys> {
  return async () => {
    const { files, version, secret } = await credentials.forCommits(project)
    const { readKeyring } = await import('../../adapters/signatures/index.ts')
    // Those that cannot be read are not tried again either.
    const name = JSON.stringify([secret, version])
    const reading = keyrings.get(name) ?? readKeyring(files)
    keyrings.set(name, reading)
    try {
      return { keyring: await reading, version, secret }
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
  const { before, mirror } = question
  if (!before || before.commit === question.found.commit) return
  const history = mirror.history()
  const found = await history.between(before.commit, question.found.commit, signal)
  if ('unknown' in found) {
    const what = `${question.found.commit}: the commits since ${before.commit}, which was served last, cannot be told: ${found.unknown}`
    throw refusal('CommitHistoryUnknown', question, what, ONCE)
  }
  const { commits: all } = found
  if (all.length > MOST_BETWEEN)
    throw refusal(
      'CommitHistoryTooLong',
      question,
      `${question.found.commit}: more than ${MOST_BETWEEN} commits lead to it from ${before.commit}, which was served last`,
      ONCE,
    )
  // The oldest of those that are refused is named: what comes after it has to be written anew as well.
  const others = all.filter((commit) => commit !== question.found.commit).reverse()
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
