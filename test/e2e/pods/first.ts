import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeImages, REPOSITORY } from './images.ts'
import type { Site } from './site.ts'

/**
 * The first commit with an image of Berth; the one before it has none. From version 0.3 on the way leads over 0.2
 * (docs/installation.md#upgrade): then this is to be the first commit of that.
 */
const FIRST = '9672c0a547fbdba93ae8108ef7c9eccad1ffb7f1'

const run = promisify(execFile)

/** Why there can be none; `undefined` where there can. */
export const lacksFirst = (): Promise<string | undefined> =>
  run('git', ['cat-file', '-e', `${FIRST}^{commit}`], { cwd: REPOSITORY }).then(
    () => undefined,
    () => `this clone has no commit ${FIRST.slice(0, 8)}: fetch all of its history`,
  )

export interface FirstBerth {
  image: string
  /** Puts its kinds, roles and programs into the cluster, as its own documents say: `berth install` came later. */
  install(): Promise<void>
  berth(...words: string[]): Promise<{ stdout: string; stderr: string }>
}

/** The certificates of kas and of the test's Git server are of one authority. */
const overlay = (tag: string) => `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../first/deploy]
images: [{ name: berth, newName: localhost/first, newTag: ${tag} }]
patches:
  - target: { kind: Deployment, name: operator }
    patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: operator }
      spec:
        template:
          spec:
            containers: [{ name: operator, env: [{ name: BERTH_GIT_CA, value: /etc/berth/kas/ca.crt }] }]
`

/** Makes its images, and gives them to the node. */
export async function makeFirst(site: Site): Promise<FirstBerth> {
  const folder = join(site.folder, 'first')
  await run('git', ['clone', '--quiet', '--shared', '--no-checkout', REPOSITORY, folder])
  await run('git', ['checkout', '--quiet', FIRST], { cwd: folder })
  // For its commands, and for what makes the image; in the image are the libraries of its own lock file.
  await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'))
  await makeImages(folder, join(site.folder, 'made-first'), { name: 'localhost/first' })
  await site.cluster().importImages(join(site.folder, 'made-first', 'images.tar'))
  const { version: tag } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  await mkdir(join(site.folder, 'overlay'))
  await writeFile(join(site.folder, 'overlay', 'kustomization.yaml'), overlay(tag))

  const { kubectl, kubeconfig } = site.cluster()
  const apply = (path: string) => kubectl('apply', '--server-side', '--force-conflicts', '-k', join(site.folder, path))
  return {
    image: `localhost/first:${tag}`,
    async install() {
      await apply('first')
      await site.untilIs('condition=Established', 'crd', '--all')
      await apply('first/deploy/defaults')
      await site.secret('berth-system', 'kas-tls', site.tls)
      await apply('overlay')
      for (const program of ['operator', 'kas'])
        await kubectl('rollout', 'status', '-n', 'berth-system', `deployment/${program}`, '--timeout=180s')
    },
    berth: (...words) => run(process.execPath, ['src/cli/main.ts', ...words, '--kubeconfig', kubeconfig], { cwd: folder }),
  }
}
