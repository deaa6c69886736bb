import type { GitOpsDeploymentSyncRun } from '../../../api/index.ts'
import type { ObjectId } from '../../../engines/apply/index.ts'
import { type Entry, entriesOf, type Previewed } from '../../../engines/gitops/index.ts'

type DryRun = NonNullable<NonNullable<GitOpsDeploymentSyncRun['status']>['dryRun']>
type Difference = Previewed['differences'][number]
type Listed = NonNullable<DryRun['objects']>[number]

/** The schema takes so many. */
const MOST_OBJECTS = 500
const MOST_FIELDS = 100
const MOST_TEXT = 1024
/** Characters of all that is listed; an object in the API may have about a million. */
const MOST = 256_000

const WORD_OF = { create: 'Create', change: 'Change', nothing: 'Leave', refused: 'Refuse' } as const

/** The status of a dry run. Pure. Objects that are too many to be listed are counted. */
export function dryRunOf({ differences, refused, leaving }: Previewed): DryRun {
  const all = [
    ...entriesOf(refused, 'failed', 'waiting').map((entry) => fromEntry(entry, 'Refuse')),
    ...differences.filter(({ would, why }) => would !== 'nothing' || why !== undefined).map(fromDifference),
    ...leaving.map((entry) => fromEntry(entry, wordFor(entry))),
  ]
  const count = (word: Listed['would']): number => all.filter(({ would }) => would === word).length
  const objects = fitting(all)
  const omitted = all.length - objects.length
  return {
    create: count('Create'),
    change: count('Change'),
    delete: count('Delete'),
    hold: count('Hold'),
    refuse: count('Refuse'),
    unchanged: differences.filter(({ would }) => would === 'nothing').length,
    ...(omitted > 0 && { omitted }),
    objects,
  }
}

function wordFor({ change }: Entry): Listed['would'] {
  if (change === 'pruned' || change === 'terminating') return 'Delete'
  return change === 'withheld' || change === 'waiting' ? 'Hold' : change === 'failed' ? 'Refuse' : 'Leave'
}

const fromEntry = ({ id, why, source }: Entry, would: Listed['would']): Listed => ({
  ...headOf(id, source),
  would,
  ...messageOf(why),
})

function fromDifference({ id, source, would, why, fields }: Difference): Listed {
  const omittedFields = fields.length - MOST_FIELDS
  return {
    ...headOf(id, source),
    would: WORD_OF[would],
    ...messageOf(why),
    ...(fields.length > 0 && { fields: fields.slice(0, MOST_FIELDS).map(textsOf) }),
    ...(omittedFields > 0 && { omittedFields }),
  }
}

const headOf = ({ group, kind, namespace, name }: ObjectId, source: string | undefined) => ({
  ...(group && { group }),
  kind,
  ...(namespace && { namespace }),
  name,
  ...(source !== undefined && { source: cut(source) }),
})

const messageOf = (why: string | undefined) => (why === undefined ? {} : { message: cut(why) })

const textsOf = ({ path, from, to }: Difference['fields'][number]) => ({
  path: cut(path),
  ...(from !== undefined && { from: cut(jsonOf(from)) }),
  ...(to !== undefined && { to: cut(jsonOf(to)) }),
})

/** Of a text, only as much as there is room for: it may have a megabyte. */
const jsonOf = (value: unknown): string => JSON.stringify(typeof value === 'string' ? value.slice(0, MOST_TEXT) : value)

const cut = (text: string): string => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text)

function fitting(all: readonly Listed[]): Listed[] {
  let left = MOST
  const objects: Listed[] = []
  for (const object of all) {
    left -= JSON.stringify(object).length
    if (left < 0 || objects.length === MOST_OBJECTS) break
    objects.push(object)
  }
  return objects
}
