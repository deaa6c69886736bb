import { setImmediate as breathe } from 'node:timers/promises'
import { type Mirror, MOST_BETWEEN } from '../../adapters/git/index.ts'
import type { Keyring } from '../../adapters/signatures/index.ts'
import { keyOf } from '../../api/index.ts'
import { Failure, isFailure, type LRUCache } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'
import { type SignatureQuestion, type SignedSource, unreadableKeys } from './verification.ts'

interface Keys {
  keyring: Keyring
  /** Where they are, for those who read why a commit is refused. */
  secret: string
}

/** Those that were read last, by Secret and its version: all polls of a project have the same, and it may take a while to read them. */
export type Keyrings = LRUCache<string, Promise<Keyring>>

interface Commits {
  project: Project
  mirror: Mirror
  credentials: Pick<Credentials, 'forCommits'>
  keyrings: Keyrings
}

/** Commits of a repository of Git, signed with keys of SSH or PGP. The Secret is read each time, and the keys in it when it has changed. */
export const signedCommits = ({ project, mirror, credentials, keyrings }: Commits): SignedSource => ({
  fetch: (commit, signal) => mirror.fetch(commit, signal),
  async judge() {
    const { files, version, secret } = await credentials.forCommits(project)
    const { readKeyring } = await import('../../adapters/signatures/index.ts')
    // Those that cannot be read are not tried again either.
    const name = JSON.stringify([secret, version])
    const reading = keyrings.get(name) ?? readKeyring(files)
    keyrings.set(name, reading)
    const keyring = await reading.catch((thrown: unknown) => {
      throw unreadableKeys(project, secret, thrown)
    })
    return {
      version,
      signerOf: (question, signal) => signerOf({ ...question, mirror, keys: { keyring, secret }, project }, signal),
    }
  },
})

interface Question extends SignatureQuestion {
  mirror: Mirror
  keys: Keys
  project: Project
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
