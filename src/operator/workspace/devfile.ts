import type { Workspace, WorkspaceClassSpec } from '../../api/index.ts'
import { type Devfile, isAppliedAtStart, type Problem, parseDevfile, sentenceOf } from '../../devfile/index.ts'
import { Failure } from '../../std/index.ts'
import { isOnlyApplied, overMaxima, readManifests } from './desired/index.ts'
import { type DevfileSource, devfileKey, type PinnedDevfile, pinDevfile } from './devfile-source.ts'
import type { GitFindings } from './git/index.ts'
import type { Obstacle } from './obstacle.ts'

/** A condition's message has an end; this many mistakes are enough to go on with. */
const MOST_PROBLEMS = 50

/** A devfile, and what the status keeps of it. */
export interface ReadDevfile {
  devfile: Devfile
  pinned: PinnedDevfile | undefined
}

/** The devfile of the workspace, or of its class. What comes from elsewhere is read once, and kept. */
export async function readDevfile(
  { metadata, spec, status }: Workspace,
  settings: WorkspaceClassSpec,
  { source, project }: { source: DevfileSource | undefined; project: GitFindings | undefined },
): Promise<ReadDevfile | Obstacle> {
  const path = spec.devfile?.path
  const text = spec.devfile?.inline ?? (path === undefined ? settings.devfile : undefined)
  const field =
    path === undefined ? (spec.devfile?.inline ? 'spec.devfile.inline' : "the class's devfile") : `the devfile ${path}`
  if (!text && path === undefined)
    return invalid('DevfileMissing', 'neither the workspace nor its class has a devfile', 'Put one into spec.devfile.inline.')
  const read = text === undefined ? undefined : parseDevfile(text)
  const isAlone = read && ('devfile' in read || !read.problems.some(({ rule }) => rule === 'parent-unresolved'))
  if (isAlone) return judged(read, { field, settings }, undefined)

  const key = devfileKey(spec, text)
  const kept = status?.devfile?.key === key ? status.devfile : undefined
  if (kept) return judged(parseDevfile(kept.content), { field, settings }, kept)
  if (!source && read) return judged(read, { field, settings }, undefined)
  if (!source)
    return invalid(
      'DevfilePathUnsupported',
      `${field} cannot be read: no kas is known`,
      'Put all of it into spec.devfile.inline.',
    )
  if (path !== undefined && !project?.known)
    return {
      ...invalid('GitProjectNotFound', 'spec.devfile.path needs a project that is there', 'Name a GitProject in spec.project.'),
      waitingFor: `GitProject ${project?.name ?? ''}`,
    }
  const home = {
    name: project?.name ?? '',
    namespace: metadata.namespace ?? '',
    project: project?.known?.path ?? '',
    ref: spec.project?.ref ?? '',
  }
  try {
    const pinned = await pinDevfile(source, home, { text, path }, key)
    return 'problems' in pinned
      ? judged(pinned, { field, settings }, undefined)
      : judged(parseDevfile(pinned.content), { field, settings }, pinned)
  } catch (thrown) {
    const { reason = 'DevfileNotFetched', message, remedy = 'It is tried again by itself.', code } = Failure.from(thrown)
    if (code === 'internal') throw thrown
    return { ...invalid(reason, `${field}: ${message}`, remedy), waitingFor: 'kas' }
  }
}

function judged(
  read: { devfile: Devfile } | { problems: readonly Problem[] },
  { field, settings }: { field: string; settings: WorkspaceClassSpec },
  pinned: PinnedDevfile | undefined,
): ReadDevfile | Obstacle {
  const problems = 'devfile' in read ? notMade(read.devfile, settings) : read.problems.map(sentenceOf)
  if ('devfile' in read && problems.length === 0) return { devfile: withRemarks(read.devfile), pinned }
  const listed = problems.slice(0, MOST_PROBLEMS).join('; ')
  const more = problems.length > MOST_PROBLEMS ? `; and ${problems.length - MOST_PROBLEMS} more` : ''
  return invalid(
    'DevfileInvalid',
    `${field} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}: ${listed}${more}`,
    `Correct ${field}.`,
  )
}

/** What would change the workspace is refused as long as nothing is made of it: better than missing without a word. */
function notMade(devfile: Devfile, settings: WorkspaceClassSpec): string[] {
  const { images, events } = devfile
  const missing = [
    ...images.filter((image) => isAppliedAtStart(devfile, image)).map(({ name }) => `component "${name}" of kind image`),
    ...(events.postStop.length > 0 ? ['events.postStop'] : []),
  ].map((what) => `${what} is not supported by this version (leave it out)`)
  return [
    ...missing,
    ...readManifests(devfile).problems,
    ...reserved(devfile),
    ...nothingRuns(devfile),
    ...overMaxima(devfile, settings),
  ]
}

/** Names that begin so are those of containers that Berth puts beside the devfile's. */
const reserved = ({ containers }: Devfile): string[] =>
  containers
    .filter(({ name }) => name.startsWith('berth-'))
    .map(({ name }) => `the name of component "${name}" is reserved, because it begins with berth- (choose another one)`)

const nothingRuns = (devfile: Devfile): string[] =>
  devfile.containers.every((container) => container.dedicatedPod || isOnlyApplied(devfile, container))
    ? [
        'no container is left for the main pod: all are only applied at events, or have a pod of their own (add one that is neither)',
      ]
    : []

const WITHOUT_EFFECT = ['images', 'projects', 'starterProjects', 'dependentProjects'] as const

/** What only sits beside the workspace is noted. */
function withRemarks(devfile: Devfile): Devfile {
  const idle = WITHOUT_EFFECT.filter((part) => devfile[part].length > 0)
  return { ...devfile, warnings: [...devfile.warnings, ...idle.map((part) => remark(part, 'is read, but has no effect'))] }
}

const remark = (path: string, message: string): Problem => ({
  file: '',
  line: 1,
  column: 1,
  path,
  rule: 'not-made',
  message,
  remedy: '',
})

const invalid = (reason: string, message: string, remedy: string): Obstacle => ({ step: 'DevfileValid', reason, message, remedy })
