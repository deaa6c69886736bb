import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { kubectl } from './builders/snapshots.ts'
import type { It } from './suite.ts'

/** A person with kubectl in the namespace of each test. */
export function personWithKubectl(it: It, cluster: { kubeconfig: string }, namespace: () => string) {
  let folder = ''
  let program = ''
  it.before(async () => {
    program = await kubectl()
    folder = await mkdtemp(join(tmpdir(), 'berth-by-hand-'))
  })
  it.after(() => rm(folder, { recursive: true }))
  const run = (...words: string[]) =>
    promisify(execFile)(program, ['--kubeconfig', cluster.kubeconfig, '-n', namespace(), ...words], { env: {} })
  return {
    run,
    /** `apply` or `create` of this object. */
    async byHand(verb: string[], object: object): Promise<void> {
      const file = join(folder, 'object.json')
      await writeFile(file, JSON.stringify(object))
      await run(...verb, '-f', file)
    },
  }
}
