import type { WorkspaceClassSpec } from '../../api/index.ts'
import {
  type Devfile,
  type DevfileFetcher,
  type DevfileFindings,
  type DevfileProblem,
  type DevfileProfile,
  type Flattened,
  flattenDevfile,
  inOrder,
} from '../../devfile/index.ts'
import { Failure, type ReadYaml, type ReadYamlTree } from '../../std/index.ts'
import { addressOf, type DevfileAddress, MOST_KEPT } from './addresses.ts'
import { allowedUrl } from './hosts.ts'
import { manifestsByUri, withManifestsRead } from './manifests.ts'
import { refusalsOf, remarksOn } from './refusals.ts'
import { withResources } from './resources.ts'

export interface CheckOptions {
  /** Of the file. */
  name: string
  profile: DevfileProfile
  /** Of its class, as far as that is known. */
  settings: WorkspaceClassSpec | undefined
  /** The workspace has a project, in which files lie that are named relative to it. */
  hasProject: boolean
  /** Reads what a devfile brings along; nothing where it is not read from here. */
  textAt(address: DevfileAddress): Promise<string | undefined>
  /** How texts are read, where that is not for one user alone. */
  read?: ReadYamlTree
  /** The same for the texts of Kubernetes objects. */
  readManifest?: ReadYaml
  signal?: AbortSignal
}

/** The rule of what was not looked at. */
export const UNRESOLVED = 'parent-unresolved'

const REMEDIES: Readonly<Record<DevfileAddress['by'], string>> = {
  page: 'name its host with --devfile-hosts, or in spec.devfileHosts of the class; kas has to allow it, too',
  project: 'kas reads it, for the namespace of the workspace',
  file: 'kas reads it in the project of the workspace',
}

/**
 * What is wrong with a devfile, by the specification and by what a workspace is made of: the operator's own rules, so that what is
 * valid here is not refused there. What is not read from here is a warning, and may hold anything.
 */
export async function checkDevfile(text: string, options: CheckOptions): Promise<DevfileFindings> {
  const unread = new Map<string, string>()
  const fetch: DevfileFetcher = async (reference) => {
    const address = addressOf(reference, options.hasProject)
    const found = await options.textAt(address)
    if (found !== undefined) return { name: address.uri, text: found }
    const message = `${address.uri} is not read from here, and nobody has looked at what it brings`
    unread.set(`cannot be read: ${message}`, message)
    throw new Failure('unavailable', message, { remedy: REMEDIES[address.by] })
  }
  const { name, profile, read, signal } = options
  const flat = await flattenDevfile(text, { name, profile, read, fetch, ...(signal && { signal }) })
  const found = 'devfile' in flat ? await findingsIn(flat, fetch, options) : flat
  const remarks = found.problems.flatMap((each): DevfileProblem[] => {
    const message = unread.get(each.message)
    return message === undefined ? [] : [{ ...each, rule: UNRESOLVED, message }]
  })
  return { problems: found.problems.filter(({ message }) => !unread.has(message)), warnings: [...found.warnings, ...remarks] }
}

/** For who reads nothing: kas does so later, for the workspace. What the class forbids is told now. */
export const leftToKas =
  (settings: WorkspaceClassSpec | undefined): CheckOptions['textAt'] =>
  async ({ by, uri }) => {
    if (by === 'page' && settings?.devfileHosts) allowedUrl(uri, settings.devfileHosts, 'class')
  }

/** More than these nobody reads, and the place of each is looked for. */
const MOST_REFUSALS = 1000

/** What the rules of the specification do not say. */
async function findingsIn(
  flat: Flattened,
  fetch: DevfileFetcher,
  { name, settings = {}, readManifest }: CheckOptions,
): Promise<DevfileFindings> {
  const { devfile: whole, problems } = await withManifests(flat, fetch)
  const devfile = readManifest ? await withManifestsRead(whole, readManifest) : whole
  const refused = refusalsOf(withResources(devfile), settings)
  const refusals = refused.slice(0, MOST_REFUSALS).map(({ at, ...said }) => flat.problemIn(at, { rule: 'not-made', ...said }))
  const [last] = refusals.slice(-1)
  const message = `there are ${refused.length - MOST_REFUSALS} more`
  if (last && refused.length > MOST_REFUSALS)
    refusals.push({ ...last, path: '', rule: 'size', message, remedy: 'correct those above first' })
  const remarks = remarksOn(devfile).map(({ at, ...said }) => flat.problemIn(at, { rule: 'no-effect', ...said }))
  const { length } = JSON.stringify(flat.document())
  const tooLong: DevfileProblem = {
    ...{ file: name, line: 1, column: 1, path: '', rule: 'size', remedy: 'make it shorter' },
    message: `the devfile with its parents is ${length} characters long; at most ${MOST_KEPT} are kept`,
  }
  return {
    problems: inOrder([...problems, ...refusals, ...(length > MOST_KEPT ? [tooLong] : [])]),
    warnings: [...flat.devfile.warnings, ...remarks],
  }
}

/** With the Kubernetes objects that it names by uri; without those that cannot be read, which is a problem. */
async function withManifests(
  { devfile, problemIn }: Flattened,
  fetch: DevfileFetcher,
): Promise<{ devfile: Devfile; problems: DevfileProblem[] }> {
  const problems: DevfileProblem[] = []
  const texts = new Map<string, string>()
  for (const { name, kind, uri } of manifestsByUri(devfile)) {
    try {
      texts.set(name, (await fetch({ by: 'uri', uri })).text)
    } catch (thrown) {
      const { code, message, remedy = '' } = Failure.from(thrown)
      if (code === 'cancelled' || code === 'internal') throw thrown
      problems.push(
        problemIn(['components', name, kind, 'uri'], { rule: 'import', message: `cannot be read: ${message}`, remedy }),
      )
    }
  }
  const manifests = devfile.manifests.flatMap((each) => {
    const inlined = texts.get(each.name)
    if (inlined !== undefined) return [{ ...each, source: { inlined } }]
    return problems.length > 0 && 'uri' in each.source ? [] : [each]
  })
  return { devfile: { ...devfile, manifests }, problems }
}
