import { Failure, isCommitId, matchesWildcard } from '../../std/index.ts'
import { highestTag, parseRange } from './semver.ts'

/**
 * The revision to follow in a repository. `short`: the branch of that name, or else the tag. `full`: a ref with its whole name,
 * such as `refs/pull/7/head`. `semver`: the highest version in a range, among the tags. `refs`: no revision, but all refs whose whole
 * names match, with `*` for any letters. `chart`: `NAME@VERSION` of one in a repository of charts, where a version is also a range of
 * them, a digest (`sha256:…`), or nothing for the latest.
 */
export type Revision =
  | { readonly kind: 'default' }
  | { readonly kind: 'branch' | 'tag' | 'commit' | 'short' | 'full' | 'semver' | 'refs' | 'chart'; readonly name: string }

/** Names as git-check-ref-format has them; what starts with `-` would read as an option. */
const REF_NAME = /^(?![-/.])(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[^\p{Cc}\s~^:?*[\\]+(?<![/.])$/u

export function checkRevision(revision: Revision): Revision {
  if (revision.kind === 'default') return revision
  const { kind, name } = revision
  if (kind === 'commit' && !isCommitId(name)) {
    throw invalid(`commit ${JSON.stringify(name)} is not a full commit id`, 'Write all 40 (or 64) hexadecimal digits.')
  }
  if (kind === 'chart') checkChart(name)
  else if (kind === 'semver') parseRange(name)
  else if (kind === 'refs') checkPattern(name)
  else if (kind !== 'commit' && !isRefName(kind, name))
    throw invalid(`${JSON.stringify(name.slice(0, 300))} cannot be the name of a ${TITLES[kind]}`, 'Correct the name.')
  return revision
}

/** The parts of `NAME@VERSION`. */
export function chartIn(written: string): { chart: string; version: string } {
  const [chart = '', ...rest] = written.split('@')
  return { chart, version: rest.join('@') }
}

/** As Helm has it: https://helm.sh/docs/chart_best_practices/conventions/, and in a registry a path may lead there. */
const CHART = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/

function checkChart(written: string): void {
  const { chart, version } = chartIn(written)
  if (!CHART.test(chart) || chart.length > 255)
    throw invalid(`${JSON.stringify(chart.slice(0, 300))} cannot be the name of a chart`, 'Correct spec.source.chart.name.')
  if (version !== '' && !/^sha256:[0-9a-f]{64}$/.test(version)) parseRange(version)
}

const isRefName = (kind: keyof typeof TITLES, name: string): boolean =>
  REF_NAME.test(name) && name.length <= 255 && (kind !== 'full' || /^refs\/[^/]+\/./.test(name))

/** Of a name of a ref, with stars in it. */
function checkPattern(pattern: string): void {
  if (!isRefName('full', pattern.replaceAll('*', 'x')))
    throw invalid(
      `${JSON.stringify(pattern.slice(0, 300))} cannot match the name of a ref`,
      'Write a whole name with stars in it, such as refs/heads/feature/*.',
    )
}

const TITLES = { branch: 'branch', tag: 'tag', short: 'branch or tag', full: 'ref' } as const

const invalid = (message: string, remedy: string) => new Failure('invalid', message, { reason: 'RefInvalid', remedy })

/** Read after "the repository has no". */
export function describeRevision(revision: Revision): string {
  if (revision.kind === 'default') return 'default branch'
  const { kind, name } = revision
  if (kind === 'semver') return `tag in the range ${name}`
  if (kind === 'refs') return `ref like ${name}`
  if (kind === 'chart') return `chart ${name.replace(/@$/, '')}`
  return `${kind === 'commit' ? 'commit' : TITLES[kind]} ${name}`
}

/** For the author of a revision that is not there. */
export const remedyFor = (revision: Revision): string =>
  revision.kind === 'short' && /^[0-9a-f]{4,39}$/.test(revision.name)
    ? 'If it is meant to be a commit, write all of its 40 digits.'
    : 'Push it, or name one that is there.'

/** The refs to ask the server for; `*` stands for any end of a name. */
export function refsOf(revision: Revision): string[] {
  if (revision.kind === 'default') return ['HEAD', 'refs/heads/main', 'refs/heads/master']
  const { kind, name } = revision
  const tag = [`refs/tags/${name}^{}`, `refs/tags/${name}`]
  if (kind === 'semver') return ['refs/tags/*']
  // No repository of Git has charts.
  if (kind === 'refs' || kind === 'chart') return [name]
  if (kind === 'branch') return [`refs/heads/${name}`]
  if (kind === 'tag') return tag
  return kind === 'short' ? [`refs/heads/${name}`, ...tag] : [`${name}^{}`, name]
}

/** The ref that a revision means, of those that are there: the first of `refsOf`, or the tag with the highest version. */
export async function pickRef(revision: Revision, { commits }: Refs): Promise<{ name: string; commit: string } | undefined> {
  const named = revision.kind === 'semver' ? await tagInRange(commits, revision.name) : refsOf(revision)
  for (const name of named) {
    const commit = commits.get(name)
    // `^{}` is the commit behind an annotated tag.
    if (commit) return { name: name.replace(/\^\{\}$/, ''), commit }
  }
  return undefined
}

async function tagInRange(commits: ReadonlyMap<string, string>, range: string): Promise<string[]> {
  const tags = [...commits.keys()].flatMap((name) => (/^refs\/tags\/[^^]*$/.test(name) ? [name.slice(10)] : []))
  const tag = await highestTag(tags, parseRange(range))
  return tag === undefined ? [] : [`refs/tags/${tag}^{}`, `refs/tags/${tag}`]
}

export interface Refs {
  /** Ids by full name. */
  commits: Map<string, string>
  /** The refs to which HEAD and its like point. */
  links: Map<string, string>
}

/** Reads `git ls-remote --symref`. The names given to it match the ends of refs too, so the maps are asked for the exact one. */
export function parseRefs(output: string): Refs {
  const refs: Refs = { commits: new Map(), links: new Map() }
  for (const line of output.split('\n')) {
    const [value = '', name] = line.split('\t')
    if (name === undefined) continue
    if (value.startsWith('ref: ')) refs.links.set(name, value.slice(5))
    else refs.commits.set(name, value)
  }
  return refs
}

/** The commits of all refs that match, by name; behind a tag, the one that it leads to. */
export function matching(pattern: string, { commits }: Refs): Map<string, string> {
  const names = [...commits.keys()].filter((name) => !name.endsWith('^{}') && matchesWildcard(pattern, name))
  return new Map(names.sort().map((name) => [name, commits.get(`${name}^{}`) ?? commits.get(name) ?? '']))
}
