import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { connect } from '../../src/adapters/kube/index.ts'
import { Namespaces } from '../../src/api/index.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { cloneRepository } from '../support/clone.ts'
import { type NpmRegistry, npmRegistry } from '../support/npm-registry.ts'
import { describe } from '../support/suite.ts'
import { ROOT } from './berth.ts'

/** The package as somebody has it who never had the repository. */
describe('the npm package', (it) => {
  let folder: string
  let files: string[]
  let tarball: string
  let env: NodeJS.ProcessEnv
  let registry: NpmRegistry
  const run = async (program: string, ...parameters: string[]) =>
    (await promisify(execFile)(program, parameters, { cwd: join(folder, 'home'), env, maxBuffer: 2 ** 26 })).stdout

  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-package-'))
    await mkdir(join(folder, 'home'))
    // None of what the tests' own npm tells its programs: the package is in another project.
    const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^KUBECONFIG$|^INIT_CWD$/i.test(name))
    // Nor is npm to ask anybody whether it is the newest.
    env = { ...Object.fromEntries(kept), npm_config_update_notifier: 'false' }
    const clone = join(folder, 'clone')
    await cloneRepository(clone)
    const packed = await run('npm', 'pack', clone, '--json', '--silent', '--pack-destination', folder)
    const [{ filename, files: all }] = JSON.parse(packed)
    files = all.map(({ path }: { path: string }) => path)
    tarball = join(folder, filename)
    registry = await npmRegistry(dirname(dirname(process.execPath)))
    await install()
    env.PATH = `${join(folder, 'home/node_modules/.bin')}:${env.PATH}`
  })
  it.after(async () => {
    await registry?.close()
    await rm(folder, { recursive: true })
  })
  const install = (...options: string[]) => {
    const from = ['--registry', registry.url, '--cache', join(folder, 'cache'), '--no-audit', '--no-fund']
    return run('npm', 'install', ...from, ...options, tarball)
  }

  /** Runs `version` where the machine has a Node that can be told from others. */
  const onMachine = async (program: string) => {
    const bin = join(folder, 'machine')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, 'node'), '#!/bin/sh\necho "machine: $*"', { mode: 0o755 })
    return run('env', `PATH=${bin}:${env.PATH}`, program, 'version')
  }

  it('has the programs and all that they read, and nothing of the tests', async () => {
    const read = [
      'bin',
      'crds',
      'deploy',
      'examples',
      'hack/control-plane',
      'hack/node',
      'kustomization.yaml',
      'static',
      'LICENSE',
    ]
    const { stdout } = await promisify(execFile)('git', ['ls-files', ...read], { cwd: join(folder, 'clone') })
    const missing = [...stdout.trim().split('\n'), 'dist/cli/main.js', 'dist/LICENSES'].filter((file) => !files.includes(file))
    assert.equal(missing, [])
    assert.equal(
      files.filter((file) => /^(test|src|hack\/bench)\//.test(file)),
      [],
    )
  })

  it('asks for a Node and for nothing else, and runs on that', async () => {
    const others = (await readdir(join(folder, 'home/node_modules'))).filter((name) => !/^(\.|berth$)/.test(name))
    assert.is(others.length, 1)
    assert.match(others[0] ?? '', /^node-/)
    const { version } = JSON.parse(await readFile(join(folder, 'home/node_modules', others[0] ?? '', 'package.json'), 'utf8'))
    assert.match(await onMachine(join(folder, 'home/node_modules/.bin/berth')), `node     ${version}`)
  })

  it('finds its Node where it is installed for everybody, and takes that of the machine without it', async () => {
    const prefix = join(folder, 'global')
    await install('--global', '--prefix', prefix)
    const berth = join(prefix, 'bin/berth')
    assert.match(await onMachine(berth), /^berth /m)
    const home = join(prefix, 'lib/node_modules/berth')
    await rm(join(home, 'node_modules'), { recursive: true })
    assert.is(await onMachine(berth), `machine: ${home}/dist/cli/main.js version\n`)
  })

  it('brings up Berth in an empty folder by two commands, and takes it down', async () => {
    await run('npx', 'berth', 'up', '--detach')
    try {
      assert.match(await run('npx', 'berth', 'status'), /^operator +running/m)
      const kube = connect({ kubeconfig: join(folder, 'home/.berth/local/kubeconfig') })
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
