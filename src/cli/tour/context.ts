import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, type Condition, type Kind, type KubeObject, keyOf, nameOf, type Ref } from '../../api/index.ts'
import { Failure, isRecord, pause, seconds, systemClock } from '../../std/index.ts'
import { conditionsOf } from '../fault.ts'
import type { Installation } from '../local/installation.ts'
import { runProgram } from '../local/program.ts'
import type { Shell } from '../shell.ts'

/** The steps of the tour work with this. */
export interface TourContext {
  shell: Shell
  installation: Installation
  kube: Kube
  /** Runs `kubectl` on the cluster of the tour. */
  kubectl(parameters: readonly string[], input?: string): Promise<string>
  /** Runs `berth` on the cluster of the tour. */
  berth(parameters: readonly string[]): Promise<string>
  /** Runs `git` in the working copy. */
  git(...parameters: string[]): Promise<string>
  /** The working copy from which the tour pushes. */
  workingCopy: string
  /** Seconds that a step may take. */
  patience: number
}

/** A text that says what there is to see, and the command that shows it, where that is known only then. */
export interface StepResult {
  text: string
  command: string
}

/** The team's namespace, and the names in the files of the tour. */
export const TEAM = 'team-a'

export function tourContext(given: Omit<TourContext, 'kubectl' | 'berth' | 'git'>): TourContext {
  const { shell, installation, workingCopy } = given
  const { env, signal, home } = shell
  const [program, ...start] = shell.berth
  return {
    ...given,
    kubectl: (parameters, input = '') => {
      const words = ['--kubeconfig', installation.kubeconfig, ...parameters]
      return runProgram(installation.kubectl, words, { env, signal, cwd: home, input })
    },
    berth: (parameters) => {
      const words = [...start, ...parameters, '--kubeconfig', installation.kubeconfig]
      return runProgram(program, words, { env, signal, cwd: home })
    },
    git: (...parameters) => runProgram('git', parameters, { env: gitEnvironment(env), signal, cwd: workingCopy }),
  }
}

/** The tour's commits are the tour's: neither the person's name nor their hooks and signing keys go into it. */
const gitEnvironment = (env: Shell['env']): Record<string, string | undefined> => ({
  PATH: env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Berth tour',
  GIT_AUTHOR_EMAIL: 'tour@berth.dev',
  GIT_COMMITTER_NAME: 'Berth tour',
  GIT_COMMITTER_EMAIL: 'tour@berth.dev',
})

/** Waits until `check` answers something about the object; when time is up, the failure says what the object says of itself. */
export async function until<T extends KubeObject, Found>(
  context: TourContext,
  kind: Kind<T>,
  ref: Ref,
  check: (object: T) => Found | undefined,
): Promise<Found> {
  const { kube, shell, patience } = context
  let object: T | undefined
  return askUntil(
    context,
    async () => {
      object = await kube.get(kind, ref, shell.signal)
      return object && check(object)
    },
    () => tooLate(kind, ref, object, patience),
  )
}

export async function untilGone(context: TourContext, kind: Kind, ref: Ref): Promise<void> {
  const { kube, shell, patience } = context
  await askUntil(
    context,
    async () => ((await kube.get(kind, ref, shell.signal)) ? undefined : true),
    () => new Failure('timeout', `${kind.kind} ${keyOf(ref)} is still there after ${patience} s`),
  )
}

/** Runs kubectl until it succeeds, and answers what it printed; when time is up, its last failure is the step's. */
export function untilAnswered(context: TourContext, words: readonly string[]): Promise<string> {
  let failure: unknown
  const ask = async (): Promise<string | undefined> => {
    try {
      return await context.kubectl(words)
    } catch (thrown) {
      failure = thrown
      return undefined
    }
  }
  return askUntil(context, ask, () => failure)
}

/** Asks ten times a second; when the step's time is up, what `overdue` answers is thrown. */
async function askUntil<Found>(
  { shell, patience }: TourContext,
  ask: () => Promise<Found | undefined>,
  overdue: () => unknown,
): Promise<Found> {
  const deadline = systemClock.now() + seconds(patience)
  while (true) {
    const found = await ask()
    if (found !== undefined) return found
    if (shell.signal.aborted) throw new Failure('cancelled', 'interrupted')
    if (systemClock.now() > deadline) throw overdue()
    await pause(systemClock, 100, shell.signal)
  }
}

function tooLate(kind: Kind, ref: Ref, object: KubeObject | undefined, patience: number): Failure {
  if (!object) return new Failure('timeout', `there is no ${kind.kind} ${keyOf(ref)} after ${patience} s`)
  const said = complaintsOf({ ...object })
  return new Failure('timeout', `not so after ${patience} s; ${said || 'it says nothing of itself, so nobody looks after it'}`, {
    object: nameOf(object),
  })
}

/** The conditions that do not hold, in the object's own words. */
function complaintsOf(object: AnyObject): string {
  const { status } = object
  const phase = isRecord(status) && 'phase' in status ? `phase is ${String(status.phase)}` : ''
  const conditions = conditionsOf(object)
    .filter(isComplaint)
    .map(({ type, reason, message }) => `${type} (${reason}): ${message}`)
  return [phase, ...conditions].filter(Boolean).join('; ')
}

const GOOD_WHEN_FALSE = /^(ErrorOccurred|SyncError|Stalled|Progressing)$/

const isComplaint = ({ type, status }: Condition): boolean => status === (GOOD_WHEN_FALSE.test(type) ? 'True' : 'False')
