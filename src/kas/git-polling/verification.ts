import type { Revision } from '../../adapters/git/index.ts'
import { isRefusedCommit, keyOf, type Ref } from '../../api/index.ts'
import { type Clock, Failure, isFailure, minutes, seconds } from '../../std/index.ts'
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
  lastServed: LastServed
  clock: Clock
}

/** What is asked of a signature. `now`: milliseconds since 1970. */
export interface SignatureQuestion {
  found: Located
  /** What was served last. */
  before: Signed | undefined
  now: number
}

/** Where commits, or artifacts, and their signatures are. */
export interface SignedSource {
  /** Reads the keys as they are now. */
  judge(): Promise<SignatureJudge>
  /** Brings what was served before. Throws `not-found` when it is gone. */
  fetch(commit: string, signal: AbortSignal): Promise<void>
}

export interface SignatureJudge {
  /** Of the keys. */
  version: string
  /** Who has signed it. Throws why it is refused. */
  signerOf(question: SignatureQuestion, signal: AbortSignal): Promise<string>
}

export interface Verification {
  /** Looks at the signature of what a poll has found. Throws why it is refused, where there is nothing to serve in its place. */
  verify(found: Located, source: SignedSource, signal: AbortSignal): Promise<Verified>
  /** What was refused is looked at anew. */
  forget(): void
}

/** A refusal is looked at again after so long: keys begin and end to be valid. */
const REMEMBERED = minutes(10)
/** That of an artifact is pushed after it. */
const REMEMBERED_OF_ARTIFACT = seconds(10)

/**
 * Each commit is looked at once, and is served from then on whatever becomes of the key: what is in effect is not taken away by a key
 * that is. That counts after a restart as well, by the signer in the status of the project.
 */
export function createVerification({ project, revision, lastServed, clock }: VerificationOptions): Verification {
  let good: Signed | undefined
  /** The status has had it, so that another commit there is newer: another kas has seen more. */
  let isTold = false
  let bad: { what: string; failure: Failure; until: number; isAlone?: boolean } | undefined
  const remembered = project.type === 'git' ? REMEMBERED : REMEMBERED_OF_ARTIFACT

  const decide = async (found: Located, before: Signed | undefined, source: SignedSource, signal: AbortSignal) => {
    const { version, signerOf } = await source.judge()
    const what = JSON.stringify([found, before?.commit, version])
    if (bad?.what === what && clock.now() < bad.until) throw bad.failure
    try {
      return await signerOf({ found, before, now: clock.now() }, signal)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (isRefusedCommit(failure.reason)) bad = { what, failure, until: clock.now() + remembered }
      throw failure
    }
  }

  return {
    async verify(found, source, signal) {
      const told = lastServed(project.ref, revision)
      if (good && told && isSameCommit(good, told)) isTold = true
      const before = isTold ? (told ?? good) : (good ?? told)
      const isSame = before !== undefined && isSameCommit(before, found)
      try {
        const now = isSame ? before : { ...found, signer: await decide(found, before, source, signal) }
        if (!good || !isSameCommit(good, now)) isTold = false
        good = now
        return good
      } catch (thrown) {
        const refused = Failure.from(thrown)
        const isKnown = bad?.failure === refused && bad.isAlone
        if (!before || isKnown || !(isRefusedCommit(refused.reason) || refused.code === 'invalid')) throw refused
        if (await isHere(before.commit, source, signal)) return { ...before, refused }
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

/** A commit that no ref leads to any more may be gone from the server. */
async function isHere(commit: string, source: SignedSource, signal: AbortSignal): Promise<boolean> {
  try {
    await source.fetch(commit, signal)
    return true
  } catch (thrown) {
    if (!isFailure(thrown, 'not-found')) throw thrown
    return false
  }
}

export const unreadableKeys = ({ ref }: Project, secret: string, thrown: unknown): Failure =>
  new Failure('invalid', `Secret ${secret}: ${Failure.from(thrown).message}`, {
    object: `GitProject ${keyOf(ref)}`,
    reason: 'SecretInvalid',
    remedy:
      'Put public keys into it: for commits allowed_signers or *.pub for those of SSH and *.asc for those of PGP, for artifacts *.pub with those of cosign.',
    cause: thrown,
  })
