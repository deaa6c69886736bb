/** The layers above Debian: Node with kustomize and Helm, and Berth itself. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { bundleFromLock, MAIN, type Package, writeLicences } from '../bundle.ts'
import type { Component } from './sbom.ts'

export const REPOSITORY = join(import.meta.dirname, '..', '..')
/** Where Berth is in the image. */
const HOME = 'usr/lib/berth'
/** What Berth reads beside its programs. */
const READ = ['crds', 'deploy', 'examples', 'static', 'kustomization.yaml', 'package.json', 'LICENSE']
const SOURCES = ['package.json', 'package-lock.json', 'src']

/** By the names that Node has for what Go and registries call amd64 and arm64. */
export const CPUS: Record<string, string> = { amd64: 'x64', arm64: 'arm64' }

const exec = promisify(execFile)

export interface Commit {
  id: string
  time: Date
}

/** What the images and bills say that they were made of. */
export async function commitOf(repository: string): Promise<Commit> {
  const git = async (...words: string[]) => (await exec('git', words, { cwd: repository })).stdout.trim()
  const [id = '', seconds] = (await git('log', '-1', '--format=%H %ct')).split(' ')
  const isChanged = (await git('status', '--porcelain')) !== ''
  return { id: isChanged ? `${id}-changed` : id, time: new Date(Number(seconds) * 1000) }
}

/** Fetches Node, which is a package like others, in the version and with the digest that our lock names. */
export async function installNode(architecture: string, root: string): Promise<Component> {
  const name = `node-linux-${CPUS[architecture]}`
  const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'))
  const { version, integrity }: { version: string; integrity: string } = packages[`node_modules/${name}`]
  const at = join(root, 'package')
  mkdirSync(at)
  await exec('npm', ['pack', `${name}@${version}`, '--pack-destination', at], { cwd: REPOSITORY })
  const file = join(at, `${name}-${version}.tgz`)
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (found !== integrity) throw new Error(`${name}@${version} is ${found}, and package-lock.json wants ${integrity}`)
  await exec('tar', ['--extract', '--file', file, '--directory', at])
  for (const [from, to] of [
    ['package/bin/node', 'usr/bin/node'],
    ['package/LICENSE', 'usr/share/doc/nodejs/copyright'],
  ] as const) {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    renameSync(join(at, from), join(root, to))
  }
  rmSync(at, { recursive: true })
  return { type: 'application', name: 'node', version, purl: `pkg:generic/node@${version}` }
}

/** Builds kustomize and Helm, which the operator and agents render with, in one program; gives its path as kustomize. */
export async function buildRenderers(architecture: string, root: string): Promise<string> {
  const folder = join(import.meta.dirname, 'renderers')
  const wanted = readFileSync(join(folder, 'go.mod'), 'utf8')
  const [version, toolchain] = [/kustomize\/v5 (v\S+)/, /toolchain (\S+)/].map((pattern) => pattern.exec(wanted)?.[1])
  const flags = ['-trimpath', '-ldflags', `-s -w -X sigs.k8s.io/kustomize/api/provenance.version=${version}`]
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: toolchain, GOOS: 'linux', GOARCH: architecture }
  const go = async (...words: string[]) => (await exec('go', words, { cwd: folder, env })).stdout
  const program = join(root, 'usr/bin/kustomize')
  await go('build', ...flags, '-o', program, '.')
  symlinkSync('kustomize', join(root, 'usr/bin/helm'))
  const listed = await go(
    'list',
    '-deps',
    '-f',
    '{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}',
    '.',
  )
  const libraries = [...new Set(listed.trim().split('\n'))].map((line) => {
    const [title = '', at = ''] = line.split('\t')
    return { title, folder: at }
  })
  writeLicences(join(root, 'usr/share/doc/kustomize/copyright'), libraries)
  return program
}

/** Packs Berth, and puts beside it what it reads; gives the packages of npm that are in it. */
export async function buildBerth(root: string, work: string): Promise<Package[]> {
  const home = join(root, HOME)
  for (const name of SOURCES) cpSync(join(REPOSITORY, name), join(work, name), { recursive: true })
  const packages = await bundleFromLock(work, join(home, 'dist'))
  for (const name of READ) cpSync(join(REPOSITORY, name), join(home, name), { recursive: true })
  const main = join(home, 'dist', `${MAIN}.js`)
  // There is no env(1) in the image.
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*/, '#!/usr/bin/node'))
  chmodSync(main, 0o755)
  mkdirSync(join(root, 'usr/bin'), { recursive: true })
  symlinkSync(`/${HOME}/dist/${MAIN}.js`, join(root, 'usr/bin/berth'))
  return packages
}
