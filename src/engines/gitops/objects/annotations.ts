import { type AnyObject, annotations } from '../../../api/index.ts'
import { beginningOf, isNear } from '../../../std/index.ts'
import type { ObjectId } from '../../apply/index.ts'
import { RUN_ANNOTATION } from './hook-runs.ts'
import { firstWaveOf, HOOK_ANNOTATIONS, hookProblem, shown, weightOf, wordsOf } from './hooks.ts'

/** The author of a manifest may ask for something with one object, beyond the settings of the sync. */
export interface Wishes {
  /**
   * own - our values hold, whoever set others. merge - no field is taken from anybody. if-not-present - made when it is
   * missing and left alone from then on. ignore - neither applied nor pruned.
   */
  readonly apply: 'own' | 'merge' | 'if-not-present' | 'ignore'
  /** Whether it is deleted when it leaves the repository: yes, never, or when somebody has confirmed it. */
  readonly prune: 'enabled' | 'disabled' | 'confirm'
  /** Deleted and made anew when a field that cannot be changed has changed. */
  readonly force: boolean
  /** Taken over from an owner that is not known any more. */
  readonly adopt: boolean
  /** Whether variables are replaced in it. */
  readonly variables: 'enabled' | 'disabled'
}

const DEFAULTS: Wishes = { apply: 'own', prune: 'enabled', force: false, adopt: false, variables: 'enabled' }

/** Ours begin with this; the others are understood so that manifests can move here as they are. */
export const PREFIX = 'gitops.berth.dev/'
const OURS = `${PREFIX}depends-on`
const WAVE = `${PREFIX}wave`
/** Ours, and the one that is understood where ours is not written: https://argo-cd.readthedocs.io/en/stable/user-guide/sync-waves/ */
const WAVES = [WAVE, 'argocd.argoproj.io/sync-wave']

/** The annotation, the value, what it asks for. Later rows win, so ours stand last. */
const TABLE: readonly (readonly [annotation: string, value: string, wish: Partial<Wishes>])[] = [
  ['helm.sh/resource-policy', 'keep', { prune: 'disabled' }],
  ['client.lifecycle.config.k8s.io/deletion', 'detach', { prune: 'disabled' }],
  ['client.lifecycle.config.k8s.io/mutation', 'ignore', { apply: 'if-not-present' }],
  ['cli-utils.sigs.k8s.io/on-remove', 'keep', { prune: 'disabled' }],
  ['argocd.argoproj.io/hook', 'Skip', { apply: 'ignore' }],
  ['argocd.argoproj.io/sync-options', 'Prune=false', { prune: 'disabled' }],
  ['argocd.argoproj.io/sync-options', 'Prune=confirm', { prune: 'confirm' }],
  ['kustomize.toolkit.fluxcd.io/prune', 'disabled', { prune: 'disabled' }],
  ['kustomize.toolkit.fluxcd.io/ssa', 'Merge', { apply: 'merge' }],
  ['kustomize.toolkit.fluxcd.io/ssa', 'IfNotPresent', { apply: 'if-not-present' }],
  ['kustomize.toolkit.fluxcd.io/ssa', 'Ignore', { apply: 'ignore' }],
  ['kustomize.toolkit.fluxcd.io/reconcile', 'disabled', { apply: 'ignore' }],
  ['kustomize.toolkit.fluxcd.io/force', 'enabled', { force: true }],
  ['kustomize.toolkit.fluxcd.io/substitute', 'disabled', { variables: 'disabled' }],
  [`${PREFIX}prune`, 'disabled', { prune: 'disabled' }],
  [`${PREFIX}prune`, 'confirm', { prune: 'confirm' }],
  [`${PREFIX}apply`, 'merge', { apply: 'merge' }],
  [`${PREFIX}apply`, 'if-not-present', { apply: 'if-not-present' }],
  [`${PREFIX}apply`, 'ignore', { apply: 'ignore' }],
  [`${PREFIX}force`, 'true', { force: true }],
  [`${PREFIX}adopt`, 'true', { adopt: true }],
  [`${PREFIX}variables`, 'disabled', { variables: 'disabled' }],
]

/** An object with a wish in the cluster keeps it when its manifest is gone. Values may stand in a list and in any case. */
export function wishesOf({ metadata: { annotations: own } }: AnyObject): Wishes {
  if (!own) return DEFAULTS
  let wishes = DEFAULTS
  for (const [annotation, value, wish] of TABLE) if (says(own[annotation], value)) wishes = { ...wishes, ...wish }
  return wishes
}

/** Whether one of the words is this one. Nothing is made of the others: there may be millions, and each object is asked many times. */
function says(value: string | undefined, wanted: string): boolean {
  if (!value) return false
  const [text, word] = [value.toLowerCase(), wanted.toLowerCase()]
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    let [begin, end] = [at - 1, at + word.length]
    while (isBlank(text[begin])) begin--
    while (isBlank(text[end])) end++
    if ((begin < 0 || text[begin] === ',') && (end === text.length || text[end] === ',')) return true
  }
  return false
}

/** Those by which a manifest asks for something. */
const ASKING = [
  ...new Set([...TABLE.map(([name]) => name).filter((name) => name.startsWith(PREFIX)), OURS, WAVE, ...HOOK_ANNOTATIONS]),
]
/** With those that stand in what was exported from a cluster, or on a GitOpsDeployment. */
const OUR_ANNOTATIONS = new Set([
  ...ASKING,
  `${PREFIX}owner`,
  RUN_ANNOTATION,
  annotations.poke,
  annotations.sync,
  annotations.confirmPrune,
])

const isBlank = (character: string | undefined): boolean => character?.trim() === ''

/** A word of ours that nobody understands would be obeyed by nobody: the rest of a sentence about the object. */
export function unknownWish(object: AnyObject): string | undefined {
  const { annotations: own = {} } = object.metadata
  const weight = weightOf(object)
  for (const [annotation, value] of Object.entries(own)) {
    if ((WAVES.includes(annotation) || annotation === weight) && !IS_WAVE.test(value))
      return `is annotated ${annotation}: ${shown(value)}; write a whole number, such as "-5" or "10"`
    const known = TABLE.filter(([name]) => name === annotation && name.startsWith(PREFIX)).map((row) => row[1])
    const strange = known.length > 0 && wordsOf(value).some((word) => !known.includes(word) && !isRefusal(word))
    if (strange) return `is annotated ${annotation}: ${shown(value)}; write ${known.join(' or ')}`
    if (annotation.startsWith(PREFIX) && !OUR_ANNOTATIONS.has(annotation)) return unknown(annotation)
  }
  return hookProblem(object)
}

function unknown(annotation: string): string {
  const near = ASKING.find((each) => isNear(each.slice(PREFIX.length), annotation.slice(PREFIX.length)))
  const remedy = near ? `did you mean ${near}?` : `there are ${ASKING.join(', ')}`
  return `is annotated ${beginningOf(annotation, 100)}, which asks for nothing; ${remedy}`
}

/** The opposite of the wish, said aloud. */
const isRefusal = (word: string): boolean => word === '' || word === 'false' || word === 'enabled'

/**
 * The wave in which the object is applied: waves begin one after the other, each when all that is in those before it is healthy. What says
 * nothing is in wave 0; those of hooks are before and after all others.
 */
export function waveOf(object: AnyObject): number {
  const { annotations: own } = object.metadata
  if (!own) return 0
  const weight = weightOf(object)
  const text = [...WAVES, ...(weight === undefined ? [] : [weight])].map((name) => own[name]).find((value) => value !== undefined)
  return firstWaveOf(object) + (text !== undefined && IS_WAVE.test(text) ? Number(text) : 0)
}

const IS_WAVE = /^ *[+-]?\d{1,9} *$/

/** https://kpt.dev/reference/annotations/depends-on/ */
const THEIRS = 'config.kubernetes.io/depends-on'

interface Dependencies {
  readonly ids: readonly ObjectId[]
  /** A reference that cannot be read: the rest of a sentence about the object. */
  readonly problem?: string
}

const NONE: Dependencies = { ids: [] }

/**
 * The objects that must be healthy before this one is applied, and gone after it. Ours: `group/Kind/namespace/name`, with an empty
 * group for the core one and an empty namespace for what has none. Theirs: `group/namespaces/namespace/Kind/name` or
 * `group/Kind/name`. Several stand with commas between them.
 */
export function dependenciesOf({ metadata: { annotations: own } }: AnyObject): Dependencies {
  if (!own || !(OURS in own || THEIRS in own)) return NONE
  const ids: ObjectId[] = []
  for (const [annotation, read] of [[OURS, readOurs] as const, [THEIRS, readTheirs] as const]) {
    const references = listed(own[annotation])
    if (!references) return { ids: [], problem: `is annotated ${annotation}, ${TOO_MANY}` }
    for (const reference of references) {
      const id = read(reference.split('/', MOST_PARTS + 1))
      if (!id) return { ids: [], problem: `is annotated ${annotation}: ${shown(reference)}; write ${FORMAT[annotation]}` }
      ids.push(id)
    }
  }
  return { ids }
}

const FORMAT = {
  [OURS]: 'group/Kind/namespace/name, with an empty group for the core one: /ConfigMap/shop/settings',
  [THEIRS]: 'group/namespaces/namespace/Kind/name or group/Kind/name',
}

/** Of one object. They are kept with all that is seen of it, each as an object that takes ten times the memory of its text. */
const MOST_REFERENCES = 100
const MOST_CHARACTERS = 16_384
const TOO_MANY = `and at most ${MOST_REFERENCES} references in ${MOST_CHARACTERS} characters are read; annotate ${WAVE} instead, with a higher number than those have`
const MOST_PARTS = 5

/** Nothing where there are too many. */
function listed(value = ''): string[] | undefined {
  if (value.length > MOST_CHARACTERS) return undefined
  const items = value.split(',', MOST_REFERENCES + 1)
  return items.length > MOST_REFERENCES ? undefined : items.map((item) => item.trim()).filter((item) => item !== '')
}

function readOurs(parts: string[]): ObjectId | undefined {
  const [group = '', kind, namespace, name] = parts
  return parts.length === 4 && kind && name ? { group, kind, ...(namespace && { namespace }), name } : undefined
}

function readTheirs(parts: string[]): ObjectId | undefined {
  const [group = '', first, namespace, kind, name] = parts
  if (parts.length === 5)
    return first === 'namespaces' && namespace && kind && name ? { group, kind, namespace, name } : undefined
  return parts.length === 3 && first && namespace ? { group, kind: first, name: namespace } : undefined
}
