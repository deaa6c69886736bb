import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { DevfileProblem } from '../../src/devfile/index.ts'
import { portOf } from '../support/addresses.ts'
import { selfSigned } from '../support/builders/certificate.ts'
import { describe } from '../support/suite.ts'
import { berth, MAIN } from './berth.ts'

const GOOD = 'schemaVersion: 2.2.0\ncomponents:\n  - { name: tools, container: { image: i } }\n'
const BAD = 'schemaVersion: 2.2.0\ncomponents:\n  - { name: Tools, container: { imge: i } }\n'

const REFUSED = `schemaVersion: 2.2.0
components:
  - name: berth-tools
    attributes: { container-overrides: { env: [],
      resources: { limits: { cpu: lots } } } }
    container:
      image: i
  - { name: built, image: { imageName: shop/web, dockerfile: { uri: x } } }
parent: { uri: role.yaml }
`
const ROLE = `schemaVersion: 2.2.0
components:
  - name: role
    kubernetes: { inlined: "{ apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: { name: a } }" }
`

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ')

describe('validate', (it) => {
  const cwd = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text)
  it.before(() => {
    write('good.yaml', GOOD)
    write('bad.yaml', BAD)
    write('child.yaml', 'schemaVersion: 2.2.0\nparent: { uri: bad.yaml }\n')
    write('far.yaml', `${GOOD}parent: { uri: "https://example.com/base.yaml" }\n`)
    write('refused.yaml', REFUSED)
    write('role.yaml', ROLE)
    write('objects.yaml', `${GOOD}  - { name: k, kubernetes: { uri: child.yaml } }\n`)
    write('lonely.yaml', 'schemaVersion: 2.2.0\nparent: { uri: gone.yaml }\n')
  })
  it.after(() => rmSync(cwd, { recursive: true }))

  it('says that a devfile is valid', async () => {
    const { code, stdout } = await berth(['validate', 'good.yaml'], { cwd })
    assert.is(code, 0)
    assert.is(stdout, 'good.yaml is valid.\n')
  })

  it('lists every mistake as file:line:column and exits with 7', async () => {
    const { code, stdout, stderr } = await berth(['validate', 'bad.yaml'], { cwd })
    assert.is(code, 7)
    for (const place of ['bad.yaml:3:13 ', 'bad.yaml:3:31 ', 'bad.yaml:3:33 '])
      assert.ok(stdout.includes(place), `${place}\n${stdout}`)
    assert.match(stderr, 'bad.yaml has 3 mistakes.')
  })

  it('reads standard input', async () => {
    const good = await berth(['validate', '-'], { cwd, input: GOOD })
    assert.equal([good.code, good.stdout], [0, 'stdin is valid.\n'])
    const bad = await berth(['validate', '-'], { cwd, input: BAD })
    assert.is(bad.code, 7)
    assert.match(bad.stdout, /^stdin:3:13 /m)
    assert.is(execFileSync(process.execPath, [MAIN, 'validate', '-'], { encoding: 'utf8', input: GOOD }), 'stdin is valid.\n')
  })

  it('prints the same for programs', async () => {
    const { code, stdout } = await berth(['validate', 'bad.yaml', '-o', 'json'], { cwd })
    assert.is(code, 7)
    const rows: { severity: string; rule: string; line: number; path: string }[] = JSON.parse(stdout)
    assert.equal(
      rows.map(({ severity, rule, line, path }) => `${severity} ${rule} ${line} ${path}`),
      [
        'error name 3 components[0].name',
        'error required 3 components[0].container.image',
        'error unknown-field 3 components[0].container.imge',
      ],
    )
    assert.is((await berth(['validate', 'good.yaml', '-o', 'json'], { cwd })).stdout, '[]\n')
    assert.match(
      (await berth(['validate', 'bad.yaml', '-o', 'yaml'], { cwd })).stdout,
      /^- severity: error\n {2}file: bad\.yaml\n/,
    )
  })

  it('asks what GitLab would take', async () => {
    const { code, stdout } = await berth(['validate', 'good.yaml', '--profile', 'gitlab', '-o', 'json'], { cwd })
    assert.is(code, 7)
    assert.match(stdout, "No component has 'gl/inject-editor' attribute")
  })

  it('reads parents beside the devfile, and says where they are not looked at', async () => {
    const child = await berth(['validate', 'child.yaml'], { cwd })
    assert.is(child.code, 7)
    assert.match(child.stdout, 'bad.yaml:3:13 ')
    const far = await berth(['validate', 'far.yaml'], { cwd })
    assert.is(far.code, 0)
    assert.match(far.stdout, /far\.yaml:4:9 +parent-unresolved \(warning\)/)
    assert.match(
      far.stdout,
      'far.yaml has no mistakes as far as it is here: nobody has looked at what it brings in from elsewhere.',
    )
    const lonely = await berth(['validate', 'lonely.yaml'], { cwd })
    assert.is(lonely.code, 7)
    assert.match(lonely.stdout, /lonely\.yaml:2:9 +import +parent: cannot be read: gone\.yaml/)
  })

  it('refuses what no workspace is made with, wherever it stands', async () => {
    const { code, stdout } = await berth(['validate', 'refused.yaml', '-o', 'json'], { cwd })
    assert.is(code, 7)
    const rows: DevfileProblem[] = JSON.parse(stdout)
    assert.equal(
      rows.map(({ file, line, path, rule, message }) => `${file}:${line} ${rule} ${path} ${message}`),
      [
        'refused.yaml:3 not-made components[0].name the name of component "berth-tools" is reserved, because it begins with berth-',
        'refused.yaml:4 not-made components[0].attributes.container-overrides.env component "berth-tools", attribute container-overrides.env cannot be set: the devfile has a field for it',
        'refused.yaml:5 not-made components[0].attributes.container-overrides.resources.limits component "berth-tools", attribute container-overrides.resources.limits must be amounts such as 500m, 2 or 512Mi',
        'role.yaml:4 not-made components[0].kubernetes.inlined component "role" of kind kubernetes: line 1 of inlined: objects of rbac.authorization.k8s.io are not made for workspaces',
        'refused.yaml:8 no-effect components[1] nothing is built here: containers get the shop/web that its registry has, so build and push it before',
      ],
    )
  })

  it('reads Kubernetes objects that lie beside the devfile', async () => {
    const { code, stdout } = await berth(['validate', 'objects.yaml'], { cwd })
    assert.is(code, 7)
    assert.match(
      inOneLine(stdout),
      'not-made components[1].kubernetes: component "k" of kind kubernetes: line 1 of inlined: not a Kubernetes object',
    )
  })

  it('reads parents of a registry from hosts that are named', async () => {
    const { key, cert } = selfSigned('127.0.0.1')
    write('ca.pem', cert)
    const pages: Record<string, string> = { '/devfiles/base/1.0.0': BAD, '/devfiles/good/1.0.0': GOOD.replace('tools', 'base') }
    const web = createServer({ key, cert }, ({ url = '' }, response) =>
      response.writeHead(pages[url] ? 200 : 404).end(pages[url]),
    )
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${portOf(web)}`
    const validate = (id: string, ...more: string[]) =>
      berth(['validate', '-', '--devfile-ca', 'ca.pem', ...more], {
        cwd,
        input: `${GOOD}parent: { id: ${id}, registryUrl: "https://${host}", version: 1.0.0 }\n`,
      })
    const good = await validate('good', '--devfile-hosts', host)
    assert.equal([good.code, good.stdout], [0, 'stdin is valid.\n'], good.stderr)
    const bad = await validate('base', '--devfile-hosts', host)
    assert.is(bad.code, 7)
    assert.match(bad.stdout, `https://${host}/devfiles/base/1.0.0:3:13 `)
    const gone = await validate('gone', '--devfile-hosts', host)
    assert.equal([gone.code, inOneLine(gone.stdout).includes('answers 404')], [7, true])
    const elsewhere = await validate('good', '--devfile-hosts', 'example.com')
    assert.equal([elsewhere.code, inOneLine(elsewhere.stdout).includes('are not fetched here')], [7, true])
    assert.match((await validate('base')).stdout, 'stdin has no mistakes as far as it is here')
    await new Promise((resolve) => web.close(resolve))
    const late = await validate('good', '--devfile-hosts', host)
    assert.is(late.code, 5)
    assert.match(late.stdout, 'stdin has no mistakes as far as it is here')
    assert.match(late.stderr, `https://${host}/devfiles/good/1.0.0: `)
  })

  it('refuses parents that no workspace reads', async () => {
    for (const parent of ['id: go', 'uri: "http://example.com/base.yaml"', 'kubernetes: { name: base }']) {
      const { code, stdout } = await berth(['validate', '-'], { cwd, input: `${GOOD}parent: { ${parent} }\n` })
      assert.is(code, 7, parent)
      assert.match(inOneLine(stdout), 'are read from GitProjects, and by https, only')
    }
  })

  it('knows a file that is not there, and a profile that is none', async () => {
    const gone = await berth(['validate', 'gone.yaml'], { cwd })
    assert.is(gone.code, 3)
    assert.match(gone.stderr, 'gone.yaml cannot be read. Name a file')
    assert.is((await berth(['validate', 'good.yaml', '--profile', 'strict'], { cwd })).code, 2)
  })
})
