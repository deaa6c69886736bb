/** What is in an image or a package, for those who look for holes in it: a CycloneDX document (https://cyclonedx.org/docs/1.5/json/). */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Package } from '../bundle.ts'

export interface Component {
  type: string
  name: string
  version: string
  /** See https://github.com/package-url/purl-spec. */
  purl: string
}

interface Bill {
  /** What it is of, with its CycloneDX type. */
  subject: { type: string; name: string; version: string }
  created: Date
  components: readonly Component[]
}

export function writeBill(file: string, { subject, created, components }: Bill): void {
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { timestamp: created.toISOString(), component: subject },
    components: components.toSorted((one, other) => (one.purl < other.purl ? -1 : 1)),
  }
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
}

/** The Debian packages in a root, as `unpackDebian` notes them. */
export function debianIn(root: string, release = 'debian-12'): Component[] {
  const folder = join(root, 'var/lib/dpkg/status.d')
  return readdirSync(folder).map((file) => {
    const control = readFileSync(join(folder, file), 'utf8')
    const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(control)?.[1] ?? ''
    const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')]
    return {
      type: 'library',
      name,
      version,
      purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${release}`,
    }
  })
}

/** The Go modules in a program. */
export async function modulesIn(program: string): Promise<Component[]> {
  const { stdout } = await promisify(execFile)('go', ['version', '-m', program])
  return stdout.split('\n').flatMap((line) => {
    const [, what, name = '', version = ''] = line.split('\t')
    return what === 'mod' || what === 'dep' ? [{ type: 'library', name, version, purl: `pkg:golang/${name}@${version}` }] : []
  })
}

/** Packages of npm, which knows their licences and digests. */
export async function componentsOf(packages: readonly Package[], repository: string): Promise<Component[]> {
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const { stdout } = await promisify(execFile)('npm', words, { cwd: repository, maxBuffer: 2 ** 26 })
  const { components }: { components: (Component & { scope?: string; properties?: object })[] } = JSON.parse(stdout)
  return packages.map((wanted) => {
    const found = components.find(({ name, version }) => name === wanted.name && version === wanted.version)
    if (!found) throw new Error(`${wanted.name} ${wanted.version} is packed, and package-lock.json has another`)
    // To npm they are libraries for development, because whoever installs Berth needs none of them.
    const { scope: _, properties: __, ...component } = found
    return component
  })
}
