import { readFileSync } from 'node:fs'
import { satisfies } from 'semver'
import { equal, ok } from 'uvu/assert'
import { describe } from './support/suite.ts'

interface Locked {
  version: string
  integrity?: string
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
  bin?: Record<string, string>
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

describe('the lock file', (it) => {
  const packages = Object.entries<Locked>(read('package-lock.json').packages).filter(([path]) => path !== '')

  it('says of every package what it must be, byte for byte', () => {
    equal(
      packages.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity)).map(([path]) => path),
      [],
    )
  })

  it('has the parts for other machines, which npm leaves out where it can not find them', () => {
    const paths = new Set(packages.map(([path]) => path))
    const isThere = (from: string, name: string) => paths.has(`${from}/node_modules/${name}`) || paths.has(`node_modules/${name}`)
    const absent = packages.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isThere(path, name)),
    )
    equal(absent, [])
  })

  it('brings every machine a Node on which all of this runs', () => {
    const { engines } = read('package.json')
    const nodes = packages.filter(([, { bin }]) => bin?.node)
    ok(nodes.length > 2)
    equal(
      nodes.filter(([, { version }]) => !satisfies(version, engines.node)).map(([path, { version }]) => `${path} ${version}`),
      [],
    )
    // Scripts ask import.meta.main, which is not true in TypeScript there (nodejs/node#58660): they would do nothing.
    for (const lacking of ['22.17.0', '23.11.1', '24.1.0', '24.2.0']) ok(!satisfies(lacking, engines.node), lacking)
  })

  it('lets no package run a script as it is installed', () => {
    const { allowScripts } = read('package.json')
    const named = packages
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/.*node_modules\//, ''))
    equal(Object.fromEntries(named.map((name) => [name, allowScripts[name]])), allowScripts)
    equal(Object.values<boolean>(allowScripts).filter(Boolean), [])
  })
})
