import type { Workspace, WorkspaceClassSpec } from '../../../api/index.ts'
import { type Devfile, type DevfileProblem, parseDevfile, sentenceOf } from '../../../devfile/index.ts'
import {
  type DevfileRefusal,
  manifestsByUri,
  refusalsOf,
  remarksOn,
  sayRefusal,
  withManifestsRead,
  withResources,
} from '../../../engines/devfiles/index.ts'
import { Failure, LRUCache, type ReadYamlTree, type YamlReaders } from '../../../std/index.ts'
import { digest } from '../desired/names.ts'
import type { GitFindings } from '../git/index.ts'
import { devfileObstacle, type Obstacle } from '../place/obstacle.ts'
import { type DevfileSource, devfileKey, gitRefOf, type PinnedDevfile, pinDevfile } from './devfile-source.ts'

/** Reads it from projects. */
export const KAS = 'kas'

/** So many mistakes are told; `berth validate` tells all of them. */
const MOST_MISTAKES = 3
/** Of those that only show here. A condition's message has an end. */
const MOST_PROBLEMS = 50
/** As many as change at the same time, roughly: a start has a dozen looks at one devfile within seconds. */
const MOST_PARSED = 128

/** A devfile, and what the status keeps of it. */
export interface ReadDevfile {
  devfile: Devfile
  pinned: PinnedDevfile | undefined
}

/** Where devfiles come from, and how they are read. */
export interface Library {
  /** Nothing where no kas is known. */
  source: DevfileSource | undefined
  /** Reads beside the reconcile: nothing while it takes longer than anybody waits. */
  aside?: (key: string, read: () => Promise<Pinned>) => Promise<Pinned | undefined>
  project: GitFindings | undefined
  parser: DevfileParser
}

export type Pinned = Awaited<ReturnType<typeof pinDevfile>>

type ParsedDevfile = Awaited<ReturnType<typeof parseDevfile>>

export interface DevfileParser {
  readonly yaml: ReadYamlTree
  /** `tenant` is on whose behalf, as with the reader of YAML. */
  parse(text: string, tenant: string): Promise<ParsedDevfile>
}

/** Parses each text once and remembers what came of it: a devfile is looked at again with each change of a pod. */
export function createDevfileParser({ readYaml, readYamlTree: yaml }: YamlReaders): DevfileParser {
  const parsed = new LRUCache<string, ParsedDevfile, { text: string; tenant: string }>({
    max: MOST_PARSED,
    // A caller still wants what it waits for when other texts have taken its place.
    ignoreFetchAbort: true,
    fetchMethod: async (_, __, { context: { text, tenant } }) => {
      const read = await parseDevfile(text, { read: (part, options) => yaml(part, options, tenant) })
      if (!('devfile' in read)) return read
      return { devfile: await withManifestsRead(read.devfile, (part) => readYaml(part, tenant)) }
    },
  })
  return { yaml, parse: (text, tenant) => parsed.forceFetch(digest(text), { context: { text, tenant } }) }
}

/** Where a project keeps its devfile, by the specification's own tools. */
const USUAL = ['.devfile.yaml', 'devfile.yaml']

/** The devfile of the workspace, of its project, or of its class. What comes from elsewhere is read once, and kept. */
export async function readDevfile(
  { metadata, spec, status }: Workspace,
  settings: WorkspaceClassSpec,
  { source, aside = (_, read) => read(), project, parser }: Library,
): Promise<ReadDevfile | Obstacle> {
  const { namespace = '' } = metadata
  const parse = (given: string) => parser.parse(given, namespace)
  const path = spec.devfile?.path
  const text = spec.devfile?.inline ?? (path === undefined ? settings.devfile : undefined)
  const isSought = spec.devfile === undefined && source !== undefined && project?.known !== undefined
  const paths = path === undefined ? (isSought ? USUAL : []) : [path]
  const field =
    path === undefined ? (spec.devfile?.inline ? 'spec.devfile.inline' : "the class's devfile") : `the devfile ${path}`
  if (!text && paths.length === 0) return MISSING
  const read = text === undefined ? undefined : await parse(text)
  const isAlone =
    read &&
    ('devfile' in read
      ? manifestsByUri(read.devfile).length === 0
      : !read.problems.some(({ rule }) => rule === 'parent-unresolved'))
  if (isAlone && !isSought) return judged(read, { field, settings }, undefined)

  const key = devfileKey(spec, text)
  const judgedAs = async (kept: PinnedDevfile) =>
    judged(await parse(kept.content), { field: fieldOf(kept) ?? field, settings }, kept)
  if (status?.devfile?.key === key) return judgedAs(status.devfile)
  if (!source && read) return judged(read, { field, settings }, undefined)
  if (!source)
    return devfileObstacle('DevfilePathUnsupported', {
      message: `${field} cannot be read: no kas is known`,
      remedy: 'Put all of it into spec.devfile.inline.',
    })
  if (path !== undefined && !project?.known)
    return devfileObstacle('GitProjectNotFound', {
      message: 'spec.devfile.path needs a project that is there',
      remedy: 'Make the workspace again with spec.project.',
      waitingFor: `GitProject ${project?.name ?? ''}`,
    })
  const home = { namespace, project: project?.known?.path ?? '', ref: gitRefOf(spec.project?.ref ?? '') }
  const wanted = { paths, text, hosts: settings.devfileHosts }
  try {
    const pinned = await aside(key, () => pinDevfile({ source, yaml: parser.yaml }, home, wanted, key))
    if (!pinned) {
      const reading = devfileObstacle('DevfileReading', {
        message: `${field} is being read`,
        remedy: 'If it stays so, look at kas.',
        waitingFor: KAS,
      })
      return { ...reading, isUnderWay: true }
    }
    if ('problems' in pinned) return judged(pinned, { field: fieldOf(pinned) ?? field, settings }, undefined)
    return await judgedAs(pinned)
  } catch (thrown) {
    const { reason = 'DevfileNotFetched', message, remedy = 'It is tried again by itself.', code } = Failure.from(thrown)
    if (code === 'internal') throw thrown
    if (isSought && reason === 'FileNotFound') return MISSING
    return devfileObstacle(reason, { message: `${field}: ${message}`, remedy, waitingFor: KAS })
  }
}

const fieldOf = ({ path }: { path?: string | undefined }): string | undefined =>
  path === undefined ? undefined : `the devfile ${path}`

function judged(
  read: { devfile: Devfile } | { problems: readonly DevfileProblem[] },
  { field, settings }: { field: string; settings: WorkspaceClassSpec },
  pinned: PinnedDevfile | undefined,
): ReadDevfile | Obstacle {
  const devfile = 'devfile' in read ? withResources(read.devfile) : undefined
  const problems = devfile
    ? refusalsOf(devfile, settings).map(sayRefusal)
    : 'problems' in read
      ? read.problems.map(sentenceOf)
      : []
  if (devfile && problems.length === 0) return { devfile: withRemarks(devfile), pinned }
  const most = devfile ? MOST_PROBLEMS : MOST_MISTAKES
  const listed = problems.slice(0, most).join('; ')
  const more = problems.length > most ? `; and ${problems.length - most} more` : ''
  return devfileObstacle('DevfileInvalid', {
    message: `${field} has ${problems.length} mistake${problems.length > 1 ? 's' : ''}: ${listed}${more}`,
    remedy: more && !devfile ? `Correct ${field}: \`berth validate\` tells all of them.` : `Correct ${field}.`,
  })
}

/** Parts that have no effect, and do no harm, are noted. */
const withRemarks = (devfile: Devfile): Devfile => ({
  ...devfile,
  warnings: [...devfile.warnings, ...remarksOn(devfile).map(remark)],
})

const remark = ({ at: [part = '', name], message }: DevfileRefusal): DevfileProblem => ({
  file: '',
  line: 1,
  column: 1,
  path: name === undefined ? part : `component "${name}"`,
  rule: 'not-made',
  message,
  remedy: '',
})

const MISSING = devfileObstacle('DevfileMissing', {
  message: 'neither the workspace nor its project nor its class has a devfile',
  remedy:
    'Put one into spec.devfile.inline (`berth create --devfile FILE`), or into the project as .devfile.yaml, or name its file there in spec.devfile.path (`--devfile-path PATH`).',
})
