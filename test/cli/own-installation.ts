import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is } from 'uvu/assert'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import type { It } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { exportedIn, type Surroundings, startBerth } from './berth.ts'
import { processesIn } from './leftovers.ts'

/** What `berth up` brings up for one suite. `root` is a folder that goes with it, `dir` the installation's own in there. */
export function ownInstallation(it: It, name: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `berth-${name}-e2e-`)))
  const dir = join(root, 'up')
  let cluster: Kube | undefined
  let kubeconfig: string | undefined
  it.after(async () => {
    await cluster?.close()
    await startBerth(['down', '--dir', dir]).ended
    await eventually(() => processesIn(dir).length === 0)
    rmSync(root, { recursive: true, force: true })
  })
  const printedBy = async (words: string[], surroundings?: Surroundings): Promise<string> => {
    const { code, stdout, stderr } = await startBerth(words, surroundings).ended
    is(code, 0, `${stdout}\n${stderr}`)
    return stdout
  }
  return {
    root,
    dir,
    /** What a verb prints that is used there, and succeeds. */
    berth: (...words: string[]) => printedBy(kubeconfig === undefined ? words : [...words, '--kubeconfig', kubeconfig]),
    async up(surroundings?: Surroundings): Promise<{ kube: Kube; stdout: string }> {
      const stdout = await printedBy(['up', '--dir', dir, '--detach'], surroundings)
      kubeconfig = exportedIn(stdout).KUBECONFIG ?? ''
      cluster = connect({ kubeconfig })
      return { kube: cluster, stdout }
    },
  }
}
