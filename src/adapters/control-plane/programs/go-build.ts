import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { lt } from 'semver'
import { Failure } from '../../../std/index.ts'
import { removeTree } from '../servers/folder.ts'
import { run } from '../servers/run.ts'
import type { Recipe } from './recipe.ts'
import { type ToolBuild, toolsIn } from './tools.ts'

/** The Go that is installed, as in `go1.26.1`, or why it does not do: one that is too old would fetch another from the network. */
export async function goFor({ go }: Pick<Recipe, 'go'>, env: ToolBuild['env']): Promise<{ version: string } | { why: string }> {
  const said = await run('go', ['version'], { env: { ...env, GOTOOLCHAIN: 'local' } }).catch(() => '')
  const version = /go\d\S*/.exec(said)?.[0]
  if (!version) return { why: 'Go is not installed' }
  const [has, needed] = [comparable(version), comparable(go)]
  return has && needed && lt(has, needed) ? { why: `${version} is older than ${go}` } : { version }
}

/** As semver orders versions: `1.26`, a language version or a `devel go1.26-…`, comes before `1.26rc1`, and that before `1.26.0`. */
function comparable(version: string): string | undefined {
  const [, major, minor, patch, stage, count] = /^(?:go)?(\d+)\.(\d+)(?:\.(\d+)|(beta|rc)(\d+))?/.exec(version) ?? []
  if (!major) return undefined
  if (stage) return `${major}.${minor}.0-${stage}.${count}`
  return `${major}.${minor}.${patch ?? '0-0'}`
}

/**
 * Builds the module's tools beside the goal and renames them there, so that nobody ever meets half of them. Go works beside them too:
 * one that is stopped leaves its work, and it goes with the rest.
 */
export async function goBuild(build: ToolBuild): Promise<void> {
  const beside = `${build.into}.building`
  removeTree(beside)
  const [programs, work] = [join(beside, 'programs'), join(beside, 'work')]
  for (const folder of [programs, work]) mkdirSync(folder, { recursive: true })
  try {
    await buildTools(build, programs, work)
    removeTree(build.into)
    renameSync(programs, build.into)
  } finally {
    removeTree(beside)
  }
}

async function buildTools({ recipe, wanted, env, report, signal }: ToolBuild, programs: string, work: string): Promise<void> {
  await installPackages({
    what: 'the control plane',
    folder: recipe.folder,
    packages: ['tool'],
    flags: kubernetesFlags(recipe.kubernetes),
    programs,
    work,
    env,
    report,
    signal,
  })
  const { missing } = toolsIn(programs, wanted)
  if (missing.length > 0) throw new Failure('internal', `the Go build made no ${missing.join(', ')}`)
}

export interface PackageBuild extends Pick<ToolBuild, 'env' | 'report' | 'signal'> {
  /** The person reads it: "building the control plane". */
  what: string
  /** Of the Go module. */
  folder: string
  packages: readonly string[]
  /** Of `go install`, beside those that make a build reproducible. */
  flags: readonly string[]
  /** Where the programs are to be. */
  programs: string
  /** Where Go works. */
  work: string
}

/** Builds the programs of a Go module, and tells how many of their packages are done. */
export async function installPackages(build: PackageBuild): Promise<void> {
  const { what, folder, packages, flags, programs, work, report, signal } = build
  const env = { ...build.env, CGO_ENABLED: '0', GOBIN: programs, GOTMPDIR: work }
  const go = { cwd: folder, env, signal }
  report.progress({ what: 'fetching Go modules', done: 0, total: 1 })
  const names = (await run('go', ['list', '-deps', '-f', '{{.Name}}', ...packages], go)).trim().split('\n')
  const total = names.length + names.filter((name) => name === 'main').length
  const before = readdirSync(programs).length
  let compiled = 0
  const onLine = (line: string) => {
    // `-v` prints the name of each package as its turn comes, and other remarks with spaces in them.
    if (line === '' || line.includes(' ')) return
    compiled++
    // To link a large program takes as long as to compile hundreds of packages.
    report.progress({ what: `building ${what}`, done: Math.min(compiled + readdirSync(programs).length - before, total), total })
  }
  await run('go', ['install', '-v', '-trimpath', ...flags, ...packages], { ...go, onLine })
  report.progress({ what: `building ${what}`, done: total, total })
}

/** Without a version the API server believes to be v0.0.0, and clients that ask for features are misled. */
export function kubernetesFlags(kubernetes: string): string[] {
  const [major, minor] = kubernetes.slice(1).split('.')
  const set = (name: string, value = '0') => `-X k8s.io/component-base/version.${name}=${value}`
  return ['-ldflags', ['-s', '-w', set('gitVersion', kubernetes), set('gitMajor', major), set('gitMinor', minor)].join(' ')]
}
