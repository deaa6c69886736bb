import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { cloneRepository } from '../support/clone.ts'
import { lacksRegistry, type Registry, serveRegistry } from '../support/registry.ts'
import { describe } from '../support/suite.ts'
import { ARCHITECTURE } from './pods/images.ts'

const run = promisify(execFile)
const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false']
const INDEX = 'application/vnd.oci.image.index.v1+json'

describe(
  'a release',
  (it) => {
    let folder: string
    let clone: string
    let version: string
    let registry: Registry
    const made = () => join(clone, 'dist-release')
    const release = (...words: string[]) =>
      run(process.execPath, ['hack/release/make.ts', '--architecture', ARCHITECTURE, ...words], { cwd: clone })
    const refusal = async (...words: string[]): Promise<string> => {
      const { code, stderr } = await release(...words).catch((failed) => failed)
      assert.is(code, 1)
      return stderr
    }
    const edit = async (file: string, changed: (text: string) => string) =>
      writeFile(join(clone, file), changed(await readFile(join(clone, file), 'utf8')))
    const commit = async () => {
      await run('git', ['add', '--all'], { cwd: clone })
      await run('git', [...IDENTITY, 'commit', '--quiet', '--allow-empty', '--message', 'Change it'], { cwd: clone })
    }
    const pushed = (name: string) =>
      fetch(`http://${registry.host}/v2/${name}/manifests/${version}`, { headers: { accept: INDEX } })

    it.before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'berth-release-'))
      clone = join(folder, 'clone')
      await cloneRepository(clone)
      await commit()
      version = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')).version
      registry = await serveRegistry(join(folder, 'registry'))
    })
    it.after(async () => {
      await registry?.stop()
      await rm(folder, { recursive: true })
    })

    it('is not made of what nobody committed, or of a version that the changelog gives no day', async () => {
      const name = ['--name', `${registry.host}/team/berth`]
      await edit('CHANGELOG.md', (text) => text.replace(/^## .*/m, `## ${version}, unreleased`))
      assert.match(
        await refusal(...name),
        `CHANGELOG.md says "## ${version}, unreleased": give it the heading "## ${version}, DATE"`,
      )
      await edit('CHANGELOG.md', (text) => text.replace(/^## .*/m, `## ${version}, 2026-01-31`))
      assert.match(await refusal(...name), 'these files differ from it:\n M CHANGELOG.md\n')
      assert.match(await refusal(), '--name is missing')
      await commit()
      const nowhere = `localhost:${await freePort()}/team/berth`
      assert.match(await refusal('--name', nowhere, '--push'), `the registry does not say whether it has ${nowhere}:${version}: `)
      assert.match(await refusal(...name, '--output', 'deploy'), 'deploy has no SHA256SUMS, and so holds something else')
    })

    it('has the package, the images, what installs them, bills, notes and sums, and its images are in the registry', async () => {
      await release('--name', `${registry.host}/team/berth`, '--push')
      const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: made() })
      const files = [
        'berth-amd64.cdx.json',
        'berth-workspace-amd64.cdx.json',
        `berth-${version}.cdx.json`,
        `berth-${version}.tgz`,
      ]
      const all = [...files.map((file) => file.replace('amd64', ARCHITECTURE)), 'images.tar', 'install.yaml', 'notes.md']
      assert.equal(stdout.trim().split('\n').toSorted(), all.map((file) => `${file}: OK`).toSorted())
      assert.match(await readFile(join(made(), 'install.yaml'), 'utf8'), `image: ${registry.host}/team/berth:${version}\n`)
      const notes = await readFile(join(made(), 'notes.md'), 'utf8')
      for (const name of ['team/berth', 'team/berth-workspace']) {
        const digest = (await pushed(name)).headers.get('docker-content-digest')
        assert.match(notes, `| \`${registry.host}/${name}:${version}\` | \`${digest}\` |`)
      }
    })

    it('names in the bill of the package what is packed in it, with licences', async () => {
      const { metadata, components } = JSON.parse(await readFile(join(made(), `berth-${version}.cdx.json`), 'utf8'))
      assert.equal(metadata.component, { type: 'application', name: 'berth', version })
      const named = new Map<string, Record<string, unknown>>(components.map((each: { name: string }) => [each.name, each]))
      const { licenses, scope, properties } = named.get('@kubernetes/client-node') ?? {}
      assert.equal([licenses, scope, properties], [[{ license: { id: 'Apache-2.0' } }], undefined, undefined])
      assert.not(named.has('typescript'))
    })

    it('pushes no other image under a tag that is there', async () => {
      const first = await (await pushed('team/berth')).text()
      await edit('static/dashboard/dashboard.css', (text) => `${text}\n/* changed */\n`)
      await commit()
      assert.match(
        await refusal('--name', `${registry.host}/team/berth`, '--push'),
        /is in the registry already, as sha256:\w+, and/,
      )
      assert.is(await (await pushed('team/berth')).text(), first)
    })
  },
  await lacksRegistry(),
)
