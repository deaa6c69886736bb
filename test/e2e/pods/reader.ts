import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { blocksIn, partOf } from '../../docs/parts.ts'
import { kubectl as findKubectl } from '../../support/builders/snapshots.ts'
import { runAtTerminal } from '../../support/terminal.ts'
import { REPOSITORY } from './images.ts'
import type { Site } from './site.ts'

/** Types what the documents say, in a folder that has a clone of Berth beside it. */
export interface Reader {
  folder: string
  /** Parts of which all commands were typed. */
  followed(): string[]
  /** Types the commands of a part as they stand there, and gives what they print. It is over with the first that fails. */
  follow(id: string, how?: How & { blocks?: readonly number[] }): Promise<string>
  type(script: string, how?: How): Promise<string>
  /** Applies a manifest in a namespace. */
  apply(manifest: string, namespace: string): Promise<unknown>
  /** The manifests of a part. */
  manifests(id: string): string[]
  write(name: string, text: string): Promise<void>
}

interface How {
  /** The clone, for what begins with `npm run`. */
  folder?: string
  /** What stands here for words that are examples. */
  instead?: Record<string, string>
  /** What is typed at a question. */
  answer?: { when: string; keys: string }
}

/** Whoever watches stops after a while. The kubeconfig of a place has the address that pods use. */
const kubectlOf = (program: string, enter: readonly string[]) => `#!/bin/sh
case " $* " in
  *" --watch "*) timeout 10 '${program}' "$@" || [ $? = 124 ] ;;
  *" place.kubeconfig "*) exec ${enter.join(' ')} '${program}' "$@" ;;
  *) exec '${program}' "$@" ;;
esac
`
const BERTH = `#!/bin/sh
exec '${process.execPath}' '${join(REPOSITORY, 'src/cli/main.ts')}' "$@"
`
const MOST_BYTES = 2 ** 26

const shellOf = (id: string): string[] => blocksIn(partOf(id), 'sh')

export async function startReader(site: Site): Promise<Reader> {
  const around = join(site.folder, 'reader')
  const [folder, programs] = [join(around, 'here'), join(around, 'programs')]
  for (const each of [folder, programs]) await mkdir(each, { recursive: true })
  await symlink(REPOSITORY, join(around, 'berth'))
  await writeFile(join(programs, 'berth'), BERTH, { mode: 0o755 })
  await writeFile(join(programs, 'kubectl'), kubectlOf(await findKubectl(), site.cluster().enter), { mode: 0o755 })
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, KUBECONFIG: site.cluster().kubeconfig }
  const typed = new Map<string, Set<number>>()

  const reader: Reader = {
    folder,
    followed: () => [...typed].filter(([id, { size }]) => size === shellOf(id).length).map(([id]) => id),
    async follow(id, { blocks, ...how } = {}) {
      const all = shellOf(id)
      const numbers = blocks ?? [...all.keys()]
      const printed = await reader.type(numbers.map((number) => all[number]).join(''), how)
      const before = typed.get(id) ?? new Set()
      typed.set(id, new Set([...before, ...numbers]))
      return printed
    },
    async type(script, { folder: cwd = folder, instead = {}, answer } = {}) {
      const changed = Object.entries(instead).reduce((text, [word, other]) => text.replaceAll(word, other), script)
      const words = ['--norc', '-euo', 'pipefail', '-c', changed]
      if (answer) {
        const { code, screen } = await runAtTerminal(['bash', ...words], { env, ...answer })
        assert.is(code, 0, screen)
        return screen
      }
      const running = promisify(execFile)('bash', words, { cwd, env, maxBuffer: MOST_BYTES })
      running.child.stdin?.end()
      return running.then(
        ({ stdout }) => stdout,
        ({ code, stdout, stderr }) => assert.unreachable(`${changed}\nended with ${code}:\n${stdout}${stderr}`) ?? '',
      )
    },
    async apply(manifest, namespace) {
      await reader.write('manifest.yaml', manifest)
      return reader.type(`kubectl apply --server-side -n ${namespace} -f manifest.yaml`)
    },
    manifests: (id) => blocksIn(partOf(id), 'yaml'),
    write: (name, text) => writeFile(join(folder, name), text),
  }
  return reader
}
