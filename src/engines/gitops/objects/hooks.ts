import { type AnyObject, groupOf } from '../../../api/index.ts'
import { beginningOf, isNear } from '../../../std/index.ts'
import { HOLDS_DATA, HOLDS_OTHERS } from './precious.ts'

/** When a hook runs: before anything is applied, among the objects, when all of them are healthy, or when that cannot be had. */
export type HookPhase = 'PreSync' | 'Sync' | 'PostSync' | 'SyncFail'

/** An object that runs once for each change of what is wanted, and is not kept. */
export interface Hook {
  readonly phase: HookPhase
  /** Whether it is deleted when it has ended so. The one of the run before goes in any case before it is made again. */
  readonly deletes: { readonly succeeded: boolean; readonly failed: boolean }
}

interface Dialect {
  /** The annotation by which an object says that it is a hook, and the one that says when it is deleted. */
  readonly hook: string
  readonly policy: string
  /** By word, in lower case. */
  readonly phases: Readonly<Record<string, HookPhase>>
  /** In which wave of its phase it is; that of other objects without it. */
  readonly weight?: string
  readonly succeeded: string
  readonly failed: string
  /** The third policy, which holds in any case. */
  readonly before: string
  /** Words by which an object is no hook after all. */
  readonly ordinary: readonly string[]
}

const PHASES: Record<string, HookPhase> = { presync: 'PreSync', sync: 'Sync', postsync: 'PostSync', syncfail: 'SyncFail' }
const POLICIES = { succeeded: 'hooksucceeded', failed: 'hookfailed', before: 'beforehookcreation' }

const OURS: Dialect = {
  hook: 'gitops.berth.dev/hook',
  policy: 'gitops.berth.dev/hook-delete-policy',
  phases: PHASES,
  ...POLICIES,
  ordinary: [],
}

/**
 * The first that an object speaks is the one that counts.
 * https://argo-cd.readthedocs.io/en/stable/user-guide/resource_hooks/ and https://helm.sh/docs/topics/charts_hooks/
 */
const DIALECTS: readonly Dialect[] = [
  OURS,
  {
    hook: 'argocd.argoproj.io/hook',
    policy: 'argocd.argoproj.io/hook-delete-policy',
    phases: PHASES,
    ...POLICIES,
    ordinary: ['skip'],
  },
  {
    hook: 'helm.sh/hook',
    policy: 'helm.sh/hook-delete-policy',
    phases: { 'pre-install': 'PreSync', 'pre-upgrade': 'PreSync', 'post-install': 'PostSync', 'post-upgrade': 'PostSync' },
    weight: 'helm.sh/hook-weight',
    succeeded: 'hook-succeeded',
    failed: 'hook-failed',
    before: 'before-hook-creation',
    ordinary: ['crd-install'],
  },
]

/** Ours, by which a manifest asks for something. */
export const HOOK_ANNOTATIONS: readonly string[] = [OURS.hook, OURS.policy]

/** Characters. All words that there are have not as many; who reads what is longer word by word does nothing else for a while. */
const LONGEST = 256

/** Several stand with commas between them, in any case. What is too long to be read is one that nobody knows. */
export const wordsOf = (value = ''): string[] =>
  value.length > LONGEST
    ? [beginningOf(value, LONGEST)]
    : value
        .toLowerCase()
        .split(',')
        .map((word) => word.trim())

const dialectOf = ({ metadata: { annotations } }: AnyObject): Dialect | undefined =>
  annotations && DIALECTS.find(({ hook }) => annotations[hook] !== undefined)

/** `undefined` for what is no hook, and for one that is not run here. */
export function hookOf(object: AnyObject): Hook | undefined {
  const dialect = dialectOf(object)
  const [phase, ...others] = dialect ? phasesOf(object, dialect) : []
  if (!dialect || phase === undefined || others.length > 0) return undefined
  const policies = wordsOf(object.metadata.annotations?.[dialect.policy])
  const deletes = (policy: string) => isMadeAnew(object) && policies.includes(policy)
  return { phase, deletes: { succeeded: deletes(dialect.succeeded), failed: deletes(dialect.failed) } }
}

/** Whether the one of the run before may be deleted, so that the hook runs again; others are applied as ever, in the phase of the hook. */
export function isMadeAnew({ apiVersion, kind }: AnyObject): boolean {
  const key = `${groupOf(apiVersion)}/${kind}`
  return !HOLDS_OTHERS.includes(key) && !HOLDS_DATA.includes(key)
}

/** All that its annotation names: charts write `pre-install,pre-upgrade`, which is one here. */
function phasesOf({ metadata: { annotations = {} } }: AnyObject, { hook, phases }: Dialect): HookPhase[] {
  return [...new Set(wordsOf(annotations[hook]).flatMap((word) => (Object.hasOwn(phases, word) ? (phases[word] ?? []) : [])))]
}

/** Why a hook in the words of others does not run here: the rest of a sentence about the object. */
export function notRun(object: AnyObject): string | undefined {
  const dialect = dialectOf(object)
  return dialect && dialect !== OURS ? strangeIn(object, dialect) : undefined
}

/** What is wrong with the hook in our own words: the rest of a sentence about the object. */
export function hookProblem(object: AnyObject): string | undefined {
  const { annotations = {} } = object.metadata
  const { hook, policy, before, failed, succeeded } = OURS
  const strange = annotations[hook] === undefined ? undefined : strangeIn(object, OURS)
  if (strange !== undefined) return strange
  const value = annotations[policy]
  if (value === undefined) return undefined
  if (annotations[hook] === undefined) return `is annotated ${policy}, and is no hook; write ${hook} as well`
  const isStrange = wordsOf(value).some((word) => ![before, failed, succeeded].includes(word))
  return isStrange ? `is annotated ${policy}: ${shown(value)}; write BeforeHookCreation, HookSucceeded or HookFailed` : undefined
}

function strangeIn(object: AnyObject, dialect: Dialect): string | undefined {
  const value = object.metadata.annotations?.[dialect.hook]
  const said = `${dialect.hook}: ${shown(value)}`
  const words = wordsOf(value)
  const phases = phasesOf(object, dialect)
  if (phases.length > 1) return `is a hook of ${phases.join(' and ')} (${said}); write an object for each`
  if (phases.length === 1 || words.every((word) => dialect.ordinary.includes(word))) return undefined
  const near = Object.keys(dialect.phases).find((word) => words.slice(0, COMPARED).some((each) => isNear(word, each)))
  const meant = near !== undefined && dialect.phases === PHASES ? PHASES[near] : near
  const remedy = meant ? `did you mean ${meant}?` : 'there are PreSync, Sync, PostSync and SyncFail'
  return `is a hook that is not run here (${said}); ${remedy}`
}

/** So many words of one value are looked at for what somebody may have meant. */
const COMPARED = 4

/** The value of an annotation, in a message. */
export const shown = (value = ''): string => JSON.stringify(beginningOf(value, 100))

/** Phases are waves of their own: the waves that people write, of nine digits, are within them. */
const FIRST_WAVE: Record<HookPhase, number> = { PreSync: -4e9, Sync: 0, PostSync: 4e9, SyncFail: 8e9 }

/** What its phase adds to its wave. */
export const firstWaveOf = (object: AnyObject): number => FIRST_WAVE[hookOf(object)?.phase ?? 'Sync']

/** The annotation by which a hook says its wave, where that is another one than objects have. */
export const weightOf = (object: AnyObject): string | undefined => dialectOf(object)?.weight
