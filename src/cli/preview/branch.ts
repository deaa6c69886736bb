import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import {
  type BranchEnvironment,
  type BranchMarks,
  branchTitle,
  conditionOf,
  Environments,
  markPatch,
  nameOf,
  type Preview,
  Previews,
} from '../../api/index.ts'
import { Failure, matchesWildcard } from '../../std/index.ts'
import { findObject, likely, type ObjectOptions, withObject } from '../find-object.ts'
import { withKube } from '../options.ts'
import type { Shell } from '../shell.ts'

export const LIST = '`berth preview list -A`'

const listOf = ({ metadata: { name, namespace } }: Preview): string => `\`berth preview list ${name} -n ${namespace}\``

export const shortCommit = (commit: string): string => commit.slice(0, 8)

/** For verbs about the environment of a branch. Completion knows by the words what may stand there. */
export const withBranch = (command: Command): Command =>
  withObject(command, Previews).argument('<branch>', 'the branch, or the name of its environment')

export interface BranchContext {
  shell: Shell
  kube: Kube
  preview: Preview
  entry: BranchEnvironment
}

/** Does the work of a verb about the environment of a branch, with the person's own rights. */
export const onBranch =
  <Options extends ObjectOptions, Result>(work: (context: BranchContext, options: Options) => Promise<Result>) =>
  (shell: Shell, name: string, branch: string, options: Options): Promise<Result> =>
    withKube(shell, options, async (kube) => {
      const preview = await findObject(kube, Previews, { name, namespace: options.namespace }, LIST)
      return work({ shell, kube, preview, entry: entryOf(preview, branch) }, options)
    })

/** The branch comes first: one may be called like the environment of another. */
function entryOf(preview: Preview, wanted: string): BranchEnvironment {
  const { environments = [] } = preview.status ?? {}
  const found = environments.find(({ branch }) => branch === wanted) ?? environments.find(({ name }) => name === wanted)
  if (found) return found
  const { why, remedy } = absenceOf(preview, wanted)
  const known = environments.map(({ branch }) => ({ name: branch }))
  const there = likely({ name: wanted }, known, listOf(preview))
  throw new Failure('not-found', `${nameOf(preview)} has no environment of branch ${wanted}: ${why}.`, {
    remedy: [remedy, there].filter(Boolean).join(' '),
  })
}

/** Reasons of a Preview that knows its branches, and makes what they need. */
export const AT_WORK = ['Ready', 'EnvironmentsNotReady', 'RemovalHeld']

interface Absence {
  why: string
  remedy?: string
}

/** Pure. As far as the Preview tells it: of the branches that wait it names the first. */
function absenceOf({ spec, status }: Preview, wanted: string): Absence {
  const { project, pattern = '*', except = [] } = spec.branches
  const expired = status?.expired?.find(({ branch }) => branch === wanted)
  if (expired)
    return { why: `it has expired with commit ${shortCommit(expired.commit)}`, remedy: 'The next push brings it back.' }
  if (!matchesWildcard(pattern, wanted)) return { why: `the branch does not match spec.branches.pattern "${pattern}"` }
  const not = except.find((each) => matchesWildcard(each, wanted))
  if (not !== undefined) return { why: `the branch matches "${not}" of spec.branches.except` }
  const ready = conditionOf(status?.conditions, 'Ready')
  if (ready && !AT_WORK.includes(ready.reason)) return { why: `${ready.reason}: ${ready.message}` }
  if (!status?.counts) return { why: 'its status says nothing yet', remedy: 'See with `berth doctor` whether the operator runs.' }
  const view = conditionOf(status.conditions, 'RepositoryInView')
  if (view?.status === 'False') return { why: `the repository is not in view (${view.reason}: ${view.message})` }
  const { waiting } = status.counts
  const isNamed = status.waiting?.some(({ branch }) => branch === wanted)
  if (!isNamed && waiting <= (status.waiting?.length ?? 0))
    return { why: `no such branch was seen in GitProject ${project}`, remedy: 'Is it pushed?' }
  const why = isNamed
    ? 'it waits for room'
    : `it may be one of the ${waiting} branches of GitProject ${project} that wait for room`
  return {
    why,
    remedy: `Raise spec.maxEnvironments, which is ${spec.maxEnvironments}, or end another one with \`berth preview delete\`.`,
  }
}

/** In messages. */
export const titleOf = ({ preview, entry }: BranchContext): string => branchTitle(preview, entry)

/** Another verb about the same environment, to be copied: its name has no letter that a shell obeys, as a branch's may have. */
export const commandFor = (verb: string, { preview: { metadata }, entry }: BranchContext): string =>
  `berth preview ${verb} ${metadata.name} ${entry.name} -n ${metadata.namespace}`

/** Writes them on the Environment, if it is of that branch. */
export async function mark({ kube, preview, entry }: BranchContext, marks: BranchMarks): Promise<void> {
  const ref = { name: entry.name, namespace: preview.metadata.namespace }
  await kube.patch(Environments, ref, markPatch(preview, entry, await kube.get(Environments, ref), marks))
}
