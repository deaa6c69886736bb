/** Makes a release of Berth: `npm run release -- --help`. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { bundleFromLock } from '../bundle.ts'
import { commitOf, REPOSITORY } from '../image/program.ts'
import { componentsOf, writeBill } from '../image/sbom.ts'
import { emptyOutput, Refusal, runScript } from '../output.ts'

const HELP = `Makes the files of a release, and pushes its images.

Usage: npm run release -- --name NAME [options]

  --name NAME           of the image in its registry
  --architecture LIST   amd64, arm64 or both (default: both)
  --output FOLDER       where the files are to be, instead of an earlier release (default: dist-release)
  --push                push NAME:VERSION and NAME-workspace:VERSION, as whom 'docker login' keeps;
                        where another image has that tag already, nothing is pushed
  --help                print this

It makes in FOLDER
  berth-VERSION.tgz     the npm package
  images.tar            both images, as an OCI archive
  install.yaml          what installs them
  *.cdx.json            what is in the package and in each image: bills of materials (CycloneDX)
  notes.md              what the changelog says of VERSION, and the digests of the images
  SHA256SUMS            of all these: 'sha256sum --check SHA256SUMS'

Everything must be committed, and CHANGELOG.md must have the heading '## VERSION, DATE'.

Examples:
  npm run release -- --name registry.example.com/berth
  npm run release -- --name registry.example.com/berth --push
`

/** The program that copies images to registries, as its go.mod locks it. */
const ORAS = join(import.meta.dirname, 'oras')

interface Image {
  /** `NAME:VERSION` */
  reference: string
  digest: string
}

const run = async (program: string, words: string[], cwd = REPOSITORY): Promise<string> =>
  (await promisify(execFile)(program, words, { cwd, maxBuffer: 2 ** 26 })).stdout

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      name: { type: 'string' },
      architecture: { type: 'string', default: 'amd64,arm64' },
      output: { type: 'string', default: 'dist-release' },
      push: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(HELP)
  const { name, architecture, push } = values
  if (name === undefined) throw new Refusal('--name is missing: registry.example.com/berth, for one')
  const { version }: { version: string } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
  const changes = changesOf(version)
  await refuseUncommitted()
  const output = resolve(values.output)
  emptyOutput(output, 'SHA256SUMS')
  const pushed = push ? await pushedBefore([`${name}:${version}`, `${name}-workspace:${version}`]) : new Map<string, string>()
  const images = await makeImages(['--name', name, '--architecture', architecture, '--output', output])
  await makePackage(output, version)
  writeFileSync(join(output, 'notes.md'), notesOf(version, changes, images))
  writeSums(output)
  if (push) await pushAll(join(output, 'images.tar'), images, pushed)
  console.log(`Berth ${version} is in ${output}${push ? ', and its images are in the registry' : ''}.`)
}

/** The part of the changelog, without its heading. */
function changesOf(version: string): string {
  const parts = readFileSync(join(REPOSITORY, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const part = parts.find((each) => each.startsWith(`${version}, `))
  const [heading = '', ...lines] = part?.split('\n') ?? []
  if (/^\S+, \d{4}-\d\d-\d\d$/.test(heading) && !Number.isNaN(Date.parse(heading.slice(-10)))) return lines.join('\n').trim()
  const found = part === undefined ? 'has none of this version' : `says "## ${heading}"`
  throw new Refusal(
    `CHANGELOG.md ${found}: give it the heading "## ${version}, DATE", with the day of the release as in 2026-01-31`,
  )
}

async function refuseUncommitted(): Promise<void> {
  const changed = (await run('git', ['status', '--porcelain'])).trimEnd()
  if (changed !== '') throw new Refusal(`a release is what a commit has, and these files differ from it:\n${changed}`)
}

async function makeImages(options: string[]): Promise<Image[]> {
  const making = promisify(execFile)(process.execPath, ['hack/image/make.ts', ...options], { cwd: REPOSITORY })
  making.child.stderr?.pipe(process.stderr)
  const lines = (await making).stdout.trim().split('\n')
  return lines.map((line) => {
    const [reference = '', digest = ''] = line.split('@')
    return { reference, digest }
  })
}

/** In a clone, which has no file that is not of the commit, and the libraries that its lock names. */
async function makePackage(output: string, version: string): Promise<void> {
  console.error('packing the npm package')
  const clone = mkdtempSync(join(tmpdir(), 'berth-release-'))
  try {
    await run('git', ['clone', '--quiet', REPOSITORY, clone])
    const packages = await bundleFromLock(clone, join(clone, 'dist'))
    await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', output], clone)
    const { time: created } = await commitOf(REPOSITORY)
    const subject = { type: 'application', name: 'berth', version }
    writeBill(join(output, `berth-${version}.cdx.json`), { subject, created, components: await componentsOf(packages, clone) })
  } finally {
    rmSync(clone, { recursive: true })
  }
}

const notesOf = (version: string, changes: string, images: readonly Image[]): string => `# Berth ${version}

${changes}

## Images

| Image | Digest |
|---|---|
${images.map(({ reference, digest }) => `| \`${reference}\` | \`${digest}\` |`).join('\n')}
`

/** As `sha256sum` writes and reads them. */
function writeSums(folder: string): void {
  const sumOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
  const names = readdirSync(folder).toSorted()
  writeFileSync(join(folder, 'SHA256SUMS'), names.map((name) => `${sumOf(name)}  ${name}\n`).join(''))
}

/** A tag that people may have pulled is not to mean something else. */
async function pushAll(archive: string, images: readonly Image[], pushed: ReadonlyMap<string, string>): Promise<void> {
  for (const { reference, digest } of images) {
    const found = pushed.get(reference) ?? digest
    if (found === digest) continue
    throw new Refusal(`${reference} is in the registry already, as ${found}, and this would be ${digest}: nothing was pushed`)
  }
  for (const { reference, digest } of images) {
    console.error(`pushing ${reference}`)
    await oras('cp', '--from-oci-layout', `${archive}@${digest}`, reference)
  }
}

/** The digests of those that the registry has. It is asked before minutes go into images that it would not take. */
async function pushedBefore(references: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const reference of references) {
    try {
      found.set(reference, (await oras('resolve', reference)).trim())
    } catch (failure) {
      const said = failure instanceof Error ? failure.message.replace(/^Command failed: .*\n/, '').trim() : String(failure)
      if (!said.endsWith(': not found')) throw new Refusal(`the registry does not say whether it has ${reference}: ${said}`)
    }
  }
  return found
}

const oras = (...words: string[]): Promise<string> => run('go', ['tool', 'oras', ...words], ORAS)

await runScript('release', main)
