import type { Workspace, WorkspaceClassSpec } from '../../api/index.ts'
import { type Devfile, isAppliedAtStart, type Problem, parseDevfile, sentenceOf } from '../../devfile/index.ts'
import { isOnlyApplied } from './desired/index.ts'
import type { Obstacle } from './obstacle.ts'

/** A condition's message has an end; this many mistakes are enough to go on with. */
const MOST_PROBLEMS = 50

/** The devfile of the workspace, or of its class. */
export function readDevfile({ spec }: Workspace, settings: WorkspaceClassSpec): Devfile | Obstacle {
  if (spec.devfile?.path) {
    return invalid('DevfilePathUnsupported', 'spec.devfile.path is not read yet', 'Put the devfile into spec.devfile.inline.')
  }
  const text = spec.devfile?.inline ?? settings.devfile
  if (!text)
    return invalid('DevfileMissing', 'neither the workspace nor its class has a devfile', 'Put one into spec.devfile.inline.')
  const read = parseDevfile(text)
  const problems = 'devfile' in read ? notMade(read.devfile) : read.problems.map(sentenceOf)
  if ('devfile' in read && problems.length === 0) return withRemarks(read.devfile)
  const listed = problems.slice(0, MOST_PROBLEMS).join('; ')
  const more = problems.length > MOST_PROBLEMS ? `; and ${problems.length - MOST_PROBLEMS} more` : ''
  const field = spec.devfile?.inline ? 'spec.devfile.inline' : "the class's devfile"
  return invalid(
    'DevfileInvalid',
    `${field} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}: ${listed}${more}`,
    `Correct ${field}.`,
  )
}

/** What would change the workspace is refused as long as nothing is made of it: better than missing without a word. */
function notMade(devfile: Devfile): string[] {
  const { containers, manifests, images, events } = devfile
  const missing = [
    ...containers.filter(({ dedicatedPod }) => dedicatedPod).map(({ name }) => `a pod of its own for "${name}"`),
    ...manifests.map(({ name, kind }) => `component "${name}" of kind ${kind}`),
    ...images.filter((image) => isAppliedAtStart(devfile, image)).map(({ name }) => `component "${name}" of kind image`),
    ...(events.postStop.length > 0 ? ['events.postStop'] : []),
  ].map((what) => `${what} is not supported by this version (leave it out)`)
  return [...missing, ...reserved(devfile), ...nothingRuns(devfile)]
}

/** Names that begin so are those of containers that Berth puts beside the devfile's. */
const reserved = ({ containers }: Devfile): string[] =>
  containers
    .filter(({ name }) => name.startsWith('berth-'))
    .map(({ name }) => `the name of component "${name}" is reserved, because it begins with berth- (choose another one)`)

const nothingRuns = (devfile: Devfile): string[] =>
  devfile.containers.every((container) => isOnlyApplied(devfile, container))
    ? ['no container is left that runs: all are only applied at events (add one that no event applies)']
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
