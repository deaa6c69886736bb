import type { Workspace, WorkspaceClassSpec } from '../../api/index.ts'
import { type Devfile, parseDevfile, sentenceOf } from '../../devfile/index.ts'
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
  if ('devfile' in read) return read.devfile
  const { problems } = read
  const listed = problems.slice(0, MOST_PROBLEMS).map(sentenceOf).join('; ')
  const more = problems.length > MOST_PROBLEMS ? `; and ${problems.length - MOST_PROBLEMS} more` : ''
  const field = spec.devfile?.inline ? 'spec.devfile.inline' : "the class's devfile"
  return invalid(
    'DevfileInvalid',
    `${field} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}: ${listed}${more}`,
    `Correct ${field}.`,
  )
}

const invalid = (reason: string, message: string, remedy: string): Obstacle => ({ step: 'DevfileValid', reason, message, remedy })
