import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { Namespaces } from '../../src/api/index.ts'
import { connect } from '../../src/adapters/kube/index.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { describe } from '../support/suite.ts'
import { ROOT } from './berth.ts'

/** The package as somebody has it who never had the repository. */
describe('the npm package', (it) => {
  let folder: string
  let files: string[]
  let env: NodeJS.ProcessEnv
  const run = async (program: string, ...parameters: string[]) =>
    (await promisify(execFile)(program, parameters, { cwd: join(folder, 'home'), env, maxBuffer: 2 ** 26 })).stdout

  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-package-'))
    await mkdir(join(folder, 'home'))
    // None of what the tests' own npm tells its programs: the package is in another project.
    env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^KUBECONFIG$|^INIT_CWD$/i.test(name)))
    const pack = ['pack', ROOT, '--json', '--pack-destination', folder]
    const [{ filename, files: all }] = JSON.parse(await run('npm', ...pack).then((text) => text.slice(text.indexOf('[\n'))))
    files = all.map(({ path }: { path: string }) => path)
    await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename))
    env.PATH = `${join(folder, 'home/node_modules/.bin')}:${env.PATH}`
  })
  it.after(() => rm(folder, { recursive: true }))

  it('has the programs and what they read, and nothing of the tests', () => {
    for (const file of ['dist/cli/main.js', 'crds/kustomization.yaml', 'deploy/values.schema.json', 'hack/node/start.sh', 'LICENSE'])
      assert.ok(files.includes(file), file)
    assert.equal(
      files.filter((file) => /^(test|src|docs|hack\/bench)\//.test(file)),
      [],
    )
  })

  it('brings up Berth in an empty folder by two commands, and takes it down', async () => {
    await run('npx', 'berth', 'up', '--detach')
    try {
      assert.match(await run('npx', 'berth', 'status'), 'NAMESPACE')
      const kube = connect({ kubeconfig: join(folder, 'home/.berth/kubeconfig') })
      assert.ok(await kube.get(Namespaces, { name: 'berth-system' }))
      await kube.close()
    } finally {
      await run('npx', 'berth', 'down', '--remove')
    }
  })

  it('is a plugin of kubectl, which completes its words', async () => {
    const tool = await kubectl()
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    assert.match(await run(tool, 'berth', 'version'), version)
    assert.match(await run(tool, 'plugin', 'list'), 'node_modules/.bin/kubectl-berth')
    assert.match(await run(tool, '__complete', 'berth', 'do'), /^down\ndoctor\n:4$/m)
  })
})
